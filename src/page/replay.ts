import type { Attempt } from '../emulator/index.js';
import { asSpecified } from '../emulator/wire/send-request.js';
import { deliver } from '../http/deliver.js';
import { isAcknowledged } from '../service/acknowledged.js';
import { ANSWER_TIMEOUT_MS } from '../service/schedule.js';
import { signedHeaders } from '../testing/delivery-headers.js';
import type { Secret } from '../verify/secret.js';

export interface ReplayOptions {
  /** Signs the attempt again; undefined sends it unchanged. */
  secret: Secret | undefined;
  headerPrefix: string;
  now(): number;
}

/** Sends an attempt again, manually and outside of the schedule: its answer changes nothing. Never rejects. */
export async function replay(
  attempt: Attempt,
  { secret, headerPrefix, now }: ReplayOptions,
): Promise<Omit<Attempt, 'seq'>> {
  const at = now();
  const request = secret === undefined ? attempt.request : signedAnew(attempt.request, secret, at, headerPrefix);
  const outgoing = { ...request, url: new URL(request.url), headers: asSpecified(request.headers) };
  const { signal } = new AbortController();
  const sent = await deliver(outgoing, { timeoutMs: ANSWER_TIMEOUT_MS, signal });
  const again = { ...attempt, request, duplicate: false, faults: [], at, endedAt: now() };
  if (sent.problem !== undefined) {
    return { ...again, outcome: 'failed', reason: 'connection_error', answer: undefined, error: sent.problem };
  }
  const { status, headers, body } = sent;
  const acknowledged = isAcknowledged(sent);
  return {
    ...again,
    outcome: acknowledged ? 'acknowledged' : 'failed',
    reason: acknowledged ? '2xx' : 'non-2xx',
    answer: { status, headers, body },
    error: undefined,
  };
}

function signedAnew(request: Attempt['request'], secret: Secret, at: number, headerPrefix: string): Attempt['request'] {
  const signed = signedHeaders({ body: request.body, secret, at, headerPrefix });
  return { ...request, headers: { ...request.headers, ...signed } };
}
