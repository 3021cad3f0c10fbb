import { isAcknowledged } from '../../service/acknowledged.js';
import { answerAdvice } from '../../wire/answer-advice.js';
import { answerCode } from '../../wire/answer-code.js';
import type { SendResult } from '../../wire/deliver.js';

const RAW_BODY =
  'The endpoint accepts the same delivery in compact JSON: a parser runs before the signature is verified. Verify the raw body.';
const SECRET =
  'Compare the secret of the endpoint with the one given here (WEBHOOK_SECRET or --secret): the endpoint refuses every form of the body.';

/** Returns what to do about a valid delivery that is not accepted. `compact`: the answer to one in compact JSON. */
export function diagnose(answer: SendResult, compact: SendResult, url: URL): string {
  if (answer.status === undefined) return `No answer: ${answer.problem}.`;
  if (isAcknowledged(compact)) return RAW_BODY;
  const isRefused = answer.status === 401 || answer.status === 403 || answer.status === 400;
  const code = answerCode(answer.body);
  if (isRefused && (code === undefined || code === 'signature_mismatch')) return SECRET;
  const advice = answerAdvice(answer, url);
  if (advice) return `${advice.message} ${advice.fix}`;
  return 'Look at the log of the endpoint: the answer does not say why a good delivery is refused.';
}
