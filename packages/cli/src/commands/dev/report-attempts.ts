import type { Attempt, Emulator } from 'service-webhooks-emulator';
import { answerCode, answerWord, NO_HANDLER_RAN, pageOf, SOMETHING_ELSE } from '../../http/answer.js';
import { connectionProblem } from '../../http/connection-problem.js';
import { type Output, type Piece, timeOfDay } from '../../output.js';

/** Prints a line about each attempt, and about each endpoint that is paused. Resolves to the number of attempts at the end. */
export async function reportAttempts(out: Output, { attempts, endpoints }: Emulator): Promise<number> {
  const paused = new Set<string>();
  let count = 0;
  for await (const attempt of attempts) {
    count += 1;
    reportAttempt(out, attempt);
    for (const { id, url, state } of endpoints.list()) {
      if (state !== 'paused') paused.delete(id);
      else if (!paused.has(id)) reportPause(out, { id, url });
      if (state === 'paused') paused.add(id);
    }
  }
  return count;
}

/** Prints one line about an attempt: its answer and the next attempt. */
export function reportAttempt(out: Output, attempt: Attempt): void {
  const { type, eventId, deliveryId, endpointId, number, at, endedAt, outcome, reason, answer, faults } = attempt;
  const { state, nextAt, error, duplicate } = attempt;
  const acknowledged = outcome === 'acknowledged';
  const status = reason === '2xx' || reason === 'non-2xx' ? answer?.status : undefined;
  const time = new Date(at).toISOString();
  const body = answer?.body ?? '';
  const noHandler = acknowledged && answerWord(body) === 'ignored';
  const page = acknowledged ? pageOf(body) : undefined;
  const style = noHandler ? 'warn' : acknowledged && page === undefined ? 'good' : 'bad';
  const problem = acknowledged ? undefined : error === undefined ? answerCode(body) : connectionProblem(error);
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
      ['faint', timeOfDay(at)],
      [style, status ?? reason],
      type,
      eventId,
      `attempt ${number}`,
      ['faint', `${endedAt - at} ms`],
      noHandler ? ['warn', NO_HANDLER_RAN] : page ? ['bad', `${SOMETHING_ELSE}: ${page}`] : problem,
      faults.length > 0 && ['warn', faults.join(', ')],
      next,
    ],
  );
}

/** Returns a wait in the largest unit that is precise enough. */
function wait(ms: number): string {
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
