import type { Secret } from 'service-webhooks';
import type { Attempt } from 'service-webhooks-emulator';
import type { Advice } from '../../diagnosis/advice.js';
import { createDiagnosis } from '../../diagnosis/diagnose.js';
import { connectionProblem } from '../../http/connection-problem.js';
import type { SendResult } from '../../http/deliver.js';

export interface AttemptAdviceOptions {
  /** Returns the secret of an endpoint. */
  secretOf(endpointId: string): Secret | undefined;
  headerPrefix: string;
  signal: AbortSignal;
}

/**
 * Returns what finds out why the app did not acknowledge an attempt. Each attempt is looked into once, so that later
 * calls have the answer of the app as it was. Never rejects.
 */
export function createAttemptAdvice({ secretOf, headerPrefix, signal }: AttemptAdviceOptions) {
  const diagnosis = createDiagnosis();
  const found = new WeakMap<Attempt, Promise<Advice | undefined>>();
  return (attempt: Attempt): Promise<Advice | undefined> => {
    const { request, endpointId, at } = attempt;
    const { url, headers, body } = request;
    const options = { secret: secretOf(endpointId), headerPrefix, signal };
    const advice =
      found.get(attempt) ??
      diagnosis({ headers, body, sent: sentOf(attempt), url: new URL(url), at }, options).catch(() => undefined);
    found.set(attempt, advice);
    return advice;
  };
}

/** Returns an attempt as the result of a request. */
export function sentOf({ answer, reason, error, at, endedAt }: Omit<Attempt, 'seq'>): SendResult {
  const ms = endedAt - at;
  if (answer !== undefined && (reason === '2xx' || reason === 'non-2xx')) return { ...answer, ms };
  return { problem: error === undefined ? NO_ANSWER : connectionProblem(error), ms };
}

const NO_ANSWER = 'no answer within 20 s: queue the work and answer 202';
