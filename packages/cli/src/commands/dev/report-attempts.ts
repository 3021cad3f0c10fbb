import type { Attempt } from 'service-webhooks-emulator';
import type { Advice } from '../../diagnosis/advice.js';
import { type Output, type Piece, timeOfDay } from '../../output.js';
import { adviceLines, sendPieces } from '../../send-report.js';
import { sentOf } from './attempt-advice.js';
import type { Dev } from './start-dev.js';

/**
 * Prints each attempt, with why it was not acknowledged, and each endpoint that is paused. Resolves to the number of
 * attempts at the end.
 */
export async function reportAttempts(
  out: Output,
  { emulator: { attempts, endpoints }, adviceOn }: Pick<Dev, 'emulator' | 'adviceOn'>,
): Promise<number> {
  const paused = new Set<string>();
  let count = 0;
  for await (const attempt of attempts) {
    count += 1;
    reportAttempt(out, attempt, await adviceOn(attempt));
    for (const { id, url, state } of endpoints.list()) {
      if (state !== 'paused') paused.delete(id);
      else if (!paused.has(id)) reportPause(out, { id, url });
      if (state === 'paused') paused.add(id);
    }
  }
  return count;
}

/** Prints an attempt: its answer, the next attempt, and below it the cause of a refusal. */
export function reportAttempt(out: Output, attempt: Attempt, advice?: Advice): void {
  const { type, eventId, deliveryId, endpointId, number, at, endedAt, outcome, reason, faults } = attempt;
  const { state, nextAt, error, duplicate } = attempt;
  const sent = sentOf(attempt);
  const next: Piece =
    state === 'dead' ? ['bad', 'dead'] : nextAt !== undefined && `next attempt in ${inWords(nextAt - endedAt)}`;
  out.record(
    {
      kind: 'attempt',
      ...{ at: new Date(at).toISOString(), type, eventId, deliveryId, endpointId, attempt: number, duplicate, faults },
      ...{ acknowledged: outcome === 'acknowledged', status: sent.status, reason, error, ms: endedAt - at, state },
      nextAt: nextAt === undefined ? undefined : new Date(nextAt).toISOString(),
      advice,
    },
    [
      ['faint', timeOfDay(at)],
      ...sendPieces(sent),
      ...[type, eventId, `attempt ${number}`],
      faults.length > 0 && ['warn', faults.join(', ')],
      next,
    ],
    ...adviceLines(advice),
  );
}

/** Returns a time in the largest unit that is precise enough. */
export function inWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

/** Prints one line about an endpoint that the service has paused. */
function reportPause(out: Output, { id, url }: { id: string; url: string }): void {
  out.record({ kind: 'paused', endpoint: id, url }, [
    ['bad', 'paused'],
    `${url} had 20 dead deliveries in a row, and gets no more: fix the app, then enable the endpoint on the page`,
  ]);
}
