import { type DeliverOptions, deliver, type SendResult } from '../../../wire/deliver.js';
import { asSpecified } from '../../../wire/header-spelling.js';
import type { Sending } from '../../faults.js';
import { type Diagnosis, diagnose } from './diagnosis.js';
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
      const compact = answer.status === undefined ? answer : await send(requests.compact(), wire);
      advice = diagnose(answer, compact, wire.url);
    }
    const [answer] = answers;
    const problem = index === 0 && answer?.problem !== undefined ? { problem: answer.problem } : {};
    yield { group, name, ...finding, says, ...advice, ms: Math.round(performance.now() - begun), ...problem };
  }
}

async function answersTo({ requests, atOnce }: Probe, from: Requests, wire: Wire): Promise<SendResult[]> {
  const sendings = requests(from);
  if (atOnce) return Promise.all(sendings.map((sending) => send(sending, wire)));
  const answers: SendResult[] = [];
  for (const sending of sendings) answers.push(await send(sending, wire));
  return answers;
}

function send(sending: Sending, { url, ...options }: Wire): Promise<SendResult> {
  return deliver({ ...sending, url, headers: asSpecified(sending.headers) }, options);
}

const SKIPPED: Finding = { verdict: 'skipped', evidence: 'says nothing while a good delivery is not accepted' };
