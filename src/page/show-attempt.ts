import type { Attempt } from '../emulator/index.js';
import type { Secret } from '../secret.js';
import { judge } from './judge.js';
import type { AttemptDetails, AttemptRow } from './page-source.js';
import { viewBody } from './view-body.js';

/** An attempt of the emulator; a replay has a `seq` below 0. */
export function toAttemptRow(attempt: Attempt): AttemptRow {
  const { seq, number, redelivery, duplicate, at, endedAt, outcome, faults } = attempt;
  return {
    id: String(seq),
    kind: seq < 0 ? 'replay' : duplicate ? 'duplicate' : 'attempt',
    ...{ number, redelivery, at, endedAt, faults },
    acknowledged: outcome === 'acknowledged',
    ...outcomeOf(attempt),
  };
}

/** The status of the answer, or why there is none that counts. */
export function outcomeOf({ reason, answer, error }: Omit<Attempt, 'seq'>): Pick<AttemptRow, 'status' | 'problem'> {
  if (reason === '2xx' || reason === 'non-2xx') return { status: answer?.status, problem: undefined };
  return { status: undefined, problem: error ?? reason };
}

export function toAttemptDetails(attempt: Attempt, secret: Secret | undefined, headerPrefix: string): AttemptDetails {
  const { request, answer, at } = attempt;
  const { method, url, headers, body } = request;
  const { verdict, causes } = judge({ headers, body, secret, at }, { headerPrefix });
  return {
    ...toAttemptRow(attempt),
    request: { method, url, headers: Object.entries(headers), body: viewBody(body) },
    answer: answer && { ...answer, headers: Object.entries(answer.headers), body: viewBody(Buffer.from(answer.body)) },
    // The emulator has signed it with this secret.
    verdict: { verdict, causes: causes.filter(({ cause }) => cause !== 'secret_wrong') },
  };
}
