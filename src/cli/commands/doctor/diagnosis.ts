import { isAcknowledged } from '../../../service/acknowledged.js';
import { type AnswerProblem, answerAdvice, answerProblem } from '../../../wire/answer-advice.js';
import { answerCode } from '../../../wire/answer-code.js';
import type { SendResult } from '../../../wire/deliver.js';

/** What to do about an endpoint whose answer does not say it. */
export const DIAGNOSES = {
  no_answer: 'The endpoint does not answer: look whether the app runs, and at its log.',
  parsed_body:
    'The endpoint accepts the same delivery in compact JSON: a parser runs before the signature is verified. Verify the raw body.',
  other_secret:
    'Compare the secret of the endpoint with the one given here (WEBHOOK_SECRET or --secret): the endpoint refuses every form of the body.',
  unclear: 'Look at the log of the endpoint: the answer does not say why a good delivery is refused.',
} as const;

/** Why a valid delivery is not accepted: a name in {@link DIAGNOSES}, or what the answer says. */
export type Diagnosis = keyof typeof DIAGNOSES | AnswerProblem;

/**
 * Returns why a valid delivery is not accepted, and what to do about it, with the details of the answer. `compact`: the
 * answer to one in compact JSON.
 */
export function diagnose(answer: SendResult, compact: SendResult, url: URL): { diagnosis: Diagnosis; fix: string } {
  const own = (diagnosis: keyof typeof DIAGNOSES) => ({ diagnosis, fix: DIAGNOSES[diagnosis] });
  if (answer.status === undefined) return { diagnosis: 'no_answer', fix: `No answer: ${answer.problem}.` };
  if (isAcknowledged(compact)) return own('parsed_body');
  const isRefused = answer.status === 401 || answer.status === 403 || answer.status === 400;
  const code = answerCode(answer.body);
  if (isRefused && (code === undefined || code === 'signature_mismatch')) return own('other_secret');
  const [diagnosis, advice] = [answerProblem(answer, url), answerAdvice(answer, url)];
  if (diagnosis && advice) return { diagnosis, fix: `${advice.message} ${advice.hint}` };
  return own('unclear');
}

/** Returns whether {@link DIAGNOSES} has it. */
export function isOwnDiagnosis(diagnosis: Diagnosis): diagnosis is keyof typeof DIAGNOSES {
  return Object.hasOwn(DIAGNOSES, diagnosis);
}
