import { ANSWER_TIMEOUT_MS, deliver } from '../cli/deliver.js';
import { asSpecified } from '../cli/delivery-headers.js';
import type { Attempt } from '../emulator/index.js';
import type { Secret } from '../secret.js';
import { sign } from '../signature.js';

export interface ReplayOptions {
  /** Signs it anew; without one it goes as it was. */
  secret: Secret | undefined;
  headerPrefix: string;
  now(): number;
}

/** An attempt once more, by hand and beside the schedule: it decides nothing. Never rejects. */
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
  const acknowledged = status >= 200 && status <= 299;
  return {
    ...again,
    outcome: acknowledged ? 'acknowledged' : 'failed',
    reason: acknowledged ? '2xx' : 'non-2xx',
    answer: { status, headers, body },
    error: undefined,
  };
}

function signedAnew(request: Attempt['request'], secret: Secret, at: number, headerPrefix: string): Attempt['request'] {
  const timestamp = { [`${headerPrefix.toLowerCase()}-timestamp`]: String(Math.floor(at / 1000)) };
  const signatures = sign({ body: request.body, secret, at, headerPrefix });
  return { ...request, headers: { ...request.headers, ...signatures, ...timestamp } };
}
