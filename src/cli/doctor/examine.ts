import { type DeliverOptions, deliver, type Sent } from '../deliver.js';
import { asSpecified } from '../delivery-headers.js';
import { Failure } from '../failure.js';
import type { Sending } from '../faults.js';
import type { Finding } from './judge.js';
import type { Probe } from './probes.js';
import type { Requests } from './requests.js';

/** A probe and what came of it. */
export interface Examined extends Pick<Probe, 'group' | 'name' | 'says' | 'fix'>, Finding {
  ms: number;
}

interface Wire extends DeliverOptions {
  url: URL;
}

/**
 * One probe after the other. Where the first does not pass, the others are skipped.
 *
 * @throws Failure where nothing answers at all
 */
export async function* examine(probes: readonly Probe[], requests: Requests, wire: Wire): AsyncGenerator<Examined> {
  let open = true;
  for (const [index, probe] of probes.entries()) {
    const { group, name, says, fix } = probe;
    const begun = performance.now();
    const answers = open ? await answersTo(probe, requests, wire) : [];
    const finding: Finding = open ? probe.judge(answers) : SKIPPED;
    if (index === 0) {
      const [answer] = answers;
      if (answer?.problem !== undefined)
        throw new Failure('network', `no answer to a good delivery: ${answer.problem}`);
      open = finding.verdict === 'passed';
    }
    yield { group, name, ...finding, says, fix, ms: Math.round(performance.now() - begun) };
  }
}

async function answersTo({ requests, atOnce }: Probe, from: Requests, { url, ...options }: Wire): Promise<Sent[]> {
  const send = (sending: Sending) => deliver({ ...sending, url, headers: asSpecified(sending.headers) }, options);
  const sendings = requests(from);
  if (atOnce) return Promise.all(sendings.map(send));
  const answers: Sent[] = [];
  for (const sending of sendings) answers.push(await send(sending));
  return answers;
}

const SKIPPED: Finding = { verdict: 'skipped', evidence: 'says nothing while a good delivery is not accepted' };
