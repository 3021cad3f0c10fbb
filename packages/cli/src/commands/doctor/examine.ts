import { isAcknowledged } from 'service-webhooks/service';
import { type AnswerProblem, answerAdvice, answerCode, answerProblem } from '../../http/answer.js';
import { type DeliverOptions, deliverAsService, type Sending, type SendResult } from '../../http/deliver.js';
import type { Finding } from './judge.js';
import type { Probe } from './probes.js';
import type { Requests } from './requests.js';

/** A probe and its result. */
export interface Examined extends Pick<Probe, 'group' | 'name' | 'says' | 'fix'>, Finding {
  ms: number;
  /** Why the first probe was not accepted. */
  diagnosis?: Diagnosis;
  /** Why the endpoint did not answer the first probe. */
  problem?: string;
}

interface Wire extends DeliverOptions {
  url: URL;
}

/** Runs the probes one by one. If the first does not pass, its cause is searched and the others are skipped. */
export async function* examine(probes: readonly Probe[], requests: Requests, wire: Wire): AsyncGenerator<Examined> {
  let open = true;
  for (const [index, probe] of probes.entries()) {
    const { group, name, says } = probe;
    const begun = performance.now();
    const answers = open ? await answersTo(probe, requests, wire) : [];
    const finding: Finding = open ? probe.judge(answers) : SKIPPED;
    let advice: Pick<Examined, 'fix' | 'diagnosis'> = { fix: probe.fix };
    if (index === 0 && finding.verdict !== 'passed') {
      open = false;
      const [answer] = answers as [SendResult];
      const compact = answer.status === undefined ? answer : await deliverAsService(requests.compact(), wire.url, wire);
      advice = diagnose(answer, compact, wire.url);
    }
    const [answer] = answers;
    const problem = index === 0 && answer?.problem !== undefined ? { problem: answer.problem } : {};
    yield { group, name, ...finding, says, ...advice, ms: Math.round(performance.now() - begun), ...problem };
  }
}

async function answersTo({ requests, atOnce }: Probe, from: Requests, wire: Wire): Promise<SendResult[]> {
  const send = (sending: Sending) => deliverAsService(sending, wire.url, wire);
  const sendings = requests(from);
  if (atOnce) return Promise.all(sendings.map(send));
  const answers: SendResult[] = [];
  for (const sending of sendings) answers.push(await send(sending));
  return answers;
}

const SKIPPED: Finding = { verdict: 'skipped', evidence: 'says nothing while a good delivery is not accepted' };

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
  if (diagnosis && advice) return { diagnosis, fix: `${advice.message} ${advice.fix}` };
  return own('unclear');
}

/** Returns whether {@link DIAGNOSES} has it. */
export function isOwnDiagnosis(diagnosis: Diagnosis): diagnosis is keyof typeof DIAGNOSES {
  return Object.hasOwn(DIAGNOSES, diagnosis);
}
