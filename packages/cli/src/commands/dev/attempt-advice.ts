import type { Secret } from 'service-webhooks';
import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import type { Attempt, FaultName } from 'service-webhooks-emulator';
import type { Advice } from '../../diagnosis/advice.js';
import { createDiagnosis } from '../../diagnosis/diagnose.js';
import { connectionProblem, tooLate } from '../../http/connection-problem.js';
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
export function sentOf({ answer, reason, error, faults, at, endedAt }: Omit<Attempt, 'seq'>): SendResult {
  const ms = endedAt - at;
  if (answer !== undefined && (reason === '2xx' || reason === 'non-2xx')) return { ...answer, ms };
  if (error === undefined) return { ...tooLate(ANSWER_TIMEOUT_MS), ms };
  if (faults.some((fault) => FAULT_ERRORS[fault] === error)) return { problem: error, fix: BY_A_FAULT, ms };
  return { ...connectionProblem(error), ms };
}

/** What the emulator says where a fault kept the answer of the app from counting. */
const FAULT_ERRORS: Readonly<Partial<Record<FaultName, string>>> = {
  drop: 'the request was lost',
  delay: 'the answer came too late',
  reset: 'connection reset',
};
const BY_A_FAULT = 'The app is not the cause, but a fault that dev makes on purpose.';
