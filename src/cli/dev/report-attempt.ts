import type { Attempt } from '../../emulator/index.js';
import type { Output, Piece } from '../output.js';
import { errorCode } from '../sent.js';

/** One line about an attempt: what was answered, and what comes next. */
export function reportAttempt(out: Output, attempt: Attempt): void {
  const { type, eventId, deliveryId, endpointId, number, at, endedAt, outcome, reason, answer, faults } = attempt;
  const { state, nextAt, error, duplicate } = attempt;
  const acknowledged = outcome === 'acknowledged';
  const status = reason === '2xx' || reason === 'non-2xx' ? answer?.status : undefined;
  const time = new Date(at).toISOString();
  const style = acknowledged ? 'good' : 'bad';
  const next: Piece =
    state === 'dead' ? ['bad', 'dead'] : nextAt !== undefined && `next attempt in ${wait(nextAt - endedAt)}`;
  out.record(
    {
      kind: 'attempt',
      ...{ at: time, type, eventId, deliveryId, endpointId, attempt: number, duplicate, faults },
      ...{ acknowledged, status, reason, error, ms: endedAt - at, state },
      nextAt: nextAt === undefined ? undefined : new Date(nextAt).toISOString(),
    },
    [
      ['faint', time.slice(11, 19)],
      [style, status ?? reason],
      type,
      eventId,
      `attempt ${number}`,
      ['faint', `${endedAt - at} ms`],
      acknowledged ? undefined : (error ?? errorCode(answer?.body ?? '')),
      faults.length > 0 && ['warn', faults.join(', ')],
      next,
    ],
  );
}

/** In the largest unit that says enough. */
function wait(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
