import { adviceOn, adviceText } from '../../diagnosis/advice.js';
import { type DiagnoseOptions, diagnose } from '../../diagnosis/diagnose.js';
import { type DeliverOptions, deliverAsService, type Sending, type SendResult } from '../../http/deliver.js';
import { DIAGNOSES, type Diagnosis, type OwnDiagnosis } from './diagnoses.js';
import type { CountedAnswers, EffectCounter } from './effect-counter.js';
import type { Finding } from './judge.js';
import type { Probe } from './probes.js';
import type { Requests } from './requests.js';

/** A probe and its result. */
export interface Examined extends Pick<Probe, 'group' | 'name' | 'says' | 'fix'>, Omit<Finding, 'diagnosis'> {
  ms: number;
  /** What is wrong, where more is known than the verdict: why the first probe was not accepted, or an event was handled twice. */
  diagnosis?: Diagnosis;
  /** How many effects an observer counted after each delivery; after all, where they are sent at once. */
  effects?: readonly number[];
  /** Why the endpoint did not answer the first probe. */
  problem?: string;
}

interface Wire extends DeliverOptions, Pick<DiagnoseOptions, 'secret' | 'headerPrefix'> {
  url: URL;
  /** Counts the effects of the deliveries in the probes of deduplication. */
  effects?: EffectCounter | undefined;
}

/** Runs the probes one by one. If the first does not pass, its cause is searched and the others are skipped. */
export async function* examine(probes: readonly Probe[], requests: Requests, wire: Wire): AsyncGenerator<Examined> {
  let open = true;
  for (const [index, probe] of probes.entries()) {
    const { group, name, says } = probe;
    const begun = performance.now();
    const sendings = open ? probe.requests(requests) : [];
    const { answers, effects }: CountedAnswers = open ? await answersTo(probe, sendings, wire) : { answers: [] };
    const { diagnosis, ...finding }: Finding = open ? probe.judge(answers, effects) : SKIPPED;
    let advice: Pick<Examined, 'fix' | 'diagnosis'> = diagnosis ? own(diagnosis) : { fix: probe.fix };
    if (index === 0 && finding.verdict !== 'passed') {
      open = false;
      advice = await findCause(sendings[0] as Sending, answers[0] as SendResult, wire);
    }
    const [answer] = answers;
    const problem = index === 0 && answer?.problem !== undefined ? { problem: answer.problem } : {};
    const ms = Math.round(performance.now() - begun);
    yield { group, name, ...finding, says, ...advice, ms, ...(effects && { effects }), ...problem };
  }
}

async function answersTo({ group, atOnce }: Probe, sendings: readonly Sending[], wire: Wire): Promise<CountedAnswers> {
  const send = (sending: Sending) => deliverAsService(sending, wire.url, wire);
  const { effects } = wire;
  if (effects && group === 'deduplicates') return effects[atOnce ? 'atOnce' : 'inTurn'](sendings, send);
  const answers: SendResult[] = [];
  if (atOnce) answers.push(...(await Promise.all(sendings.map(send))));
  else for (const sending of sendings) answers.push(await send(sending));
  effects?.saw(answers);
  return { answers };
}

const SKIPPED: Finding = { verdict: 'skipped', evidence: 'says nothing while a good delivery is not accepted' };

/** Resolves to why a valid delivery is not accepted, and what to do about it. */
async function findCause(
  { headers, body }: Sending,
  sent: SendResult,
  wire: Wire,
): Promise<Pick<Examined, 'fix' | 'diagnosis'>> {
  const answered = { headers, body, sent, url: wire.url, at: Date.now() - sent.ms };
  const advice = (await diagnose(answered, wire)) ?? adviceOn('unclear');
  return { diagnosis: advice.cause, fix: adviceText(advice) };
}

function own(diagnosis: OwnDiagnosis): { diagnosis: Diagnosis; fix: string } {
  return { diagnosis, fix: DIAGNOSES[diagnosis] };
}
