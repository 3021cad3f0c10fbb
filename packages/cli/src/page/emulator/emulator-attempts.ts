import type { Secret } from 'service-webhooks';
import { asSpecified } from 'service-webhooks/testing';
import type { Attempt } from 'service-webhooks-emulator';
import type { Advice } from '../../diagnosis/advice.js';
import { briefOf, inWords } from '../../diagnosis/brief.js';
import { causeIn } from '../../diagnosis/cause-in.js';
import { answerWord, isAccepted } from '../../http/answer.js';
import { connectionProblem } from '../../http/connection-problem.js';
import { headerText, isRecognised, judge, viewBody } from '../attempt-details.js';
import type { AttemptDetails, AttemptRow, SentMessage } from '../page-source.js';

/** Returns the row of an attempt of the emulator; a replay has a `seq` below 0. `aheadMs`: the time skipped before it. */
export function toAttemptRow(attempt: Attempt, aheadMs = 0): AttemptRow {
  const { seq, number, redelivery, duplicate, at, endedAt, outcome, faults, answer } = attempt;
  return {
    id: String(seq),
    kind: seq < 0 ? 'replay' : duplicate ? 'duplicate' : 'attempt',
    ...{ number, redelivery, at: at + aheadMs, endedAt: endedAt + aheadMs, faults },
    acknowledged: outcome === 'acknowledged',
    ...outcomeOf(attempt),
    ...isRecognised(answer),
  };
}

/** Returns the status of the answer, or why no answer counts. */
export function outcomeOf({ reason, answer, error }: Omit<Attempt, 'seq'>): Pick<AttemptRow, 'status' | 'problem'> {
  if (reason === '2xx' || reason === 'non-2xx') return { status: answer?.status, problem: undefined };
  return { status: undefined, problem: error ?? reason };
}

/**
 * Returns why an attempt was not acknowledged, in short: what `advice` says, and without one what the answer says by
 * itself.
 */
export function causeOf({ reason, answer, error }: Omit<Attempt, 'seq'>, advice?: Advice): string | undefined {
  if (error !== undefined) return connectionProblem(error).problem;
  if (advice !== undefined) return briefOf(advice.cause);
  if (answer === undefined || (reason !== '2xx' && reason !== 'non-2xx')) return inWords(reason);
  const sent = { ...answer, ms: 0 };
  return isAccepted(sent) ? undefined : briefOf(causeIn(sent));
}

/** Returns what can be searched in an attempt. */
export function textsOf(attempt: Attempt): (string | Uint8Array)[] {
  const { request, answer, error } = attempt;
  const outcome = [answer?.status, causeOf(attempt), error].join('\n');
  const answered = answer ? [headerText(Object.entries(answer.headers)), answer.body] : [];
  return [outcome, headerText(Object.entries(request.headers)), request.body, ...answered];
}

/** What is known of an attempt that it does not have itself. */
export interface AttemptContext {
  /** The secret of its endpoint. */
  secret: Secret | undefined;
  /** Why the app did not acknowledge it. */
  advice?: Advice | undefined;
  headerPrefix: string;
  /** The time that was skipped before it. */
  aheadMs?: number | undefined;
}

export function toAttemptDetails(
  attempt: Attempt,
  { secret, advice, headerPrefix, aheadMs = 0 }: AttemptContext,
): AttemptDetails {
  const { request, answer, at } = attempt;
  const { method, url, headers, body } = request;
  const { verdict, causes } = judge({ headers, body, secret, at }, { headerPrefix });
  return {
    ...toAttemptRow(attempt, aheadMs),
    request: { method, url, headers: Object.entries(headers), body: viewBody(body) },
    answer: answer && { ...answer, headers: Object.entries(answer.headers), body: viewBody(Buffer.from(answer.body)) },
    code: answer && answerWord(answer.body),
    advice,
    // The emulator has signed it with this secret, so the secret cannot be wrong.
    verdict: { verdict, causes: causes.filter(({ cause }) => cause !== 'secret_wrong') },
    ...(aheadMs > 0 && { sentAt: at }),
  };
}

export function toMessage({ request, at }: Attempt): SentMessage {
  const { method, url, headers, body } = request;
  const { pathname, search, host } = new URL(url);
  return { method, path: pathname + search, headers: [['Host', host], ...asSpecified(headers)], body, url, at };
}
