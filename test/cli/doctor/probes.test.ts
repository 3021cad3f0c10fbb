import { describe, expect, it } from 'vitest';
import { PROBES, type Probe } from '../../../src/cli/doctor/probes.js';
import { createRequests } from '../../../src/cli/doctor/requests.js';
import { aReceiver, inShort, SECRET } from '../../support/deliveries.js';

const probe = (name: string) => PROBES.find((one) => one.name === name) as Probe;
const requestsOf = (name: string, prefix = 'x-service') => probe(name).requests(createRequests(SECRET, prefix));

/** What a receiver of this library says to the requests of a probe, one after the other. */
async function answersTo(name: string, headerPrefix = 'x-service'): Promise<string[]> {
  const { receiver } = aReceiver({ now: Date.now, headerPrefix });
  const answers: string[] = [];
  for (const request of requestsOf(name, headerPrefix)) answers.push(inShort(await receiver(request)));
  return answers;
}

describe('the probes', () => {
  it('say what they send and what to do, each under a name of its own', () => {
    expect(new Set(PROBES.map(({ name }) => name)).size).toBe(PROBES.length);
    for (const { says, fix } of PROBES) {
      expect(says).toMatch(/\w+/);
      expect(fix).toMatch(/\w+ \w+/);
    }
  });

  it('are in four groups, and a good delivery is the first', () => {
    expect(PROBES[0]?.name).toBe('good');
    expect([...new Set(PROBES.map(({ group }) => group))]).toEqual(['accepts', 'refuses', 'deduplicates', 'in time']);
  });

  it.each<[name: string, answers: string[]]>([
    ['good', ['200 handled']],
    ['every-type', Array<string>(16).fill('200 handled')],
    ['new-type', ['200 handled']],
    ['new-version', ['200 handled']],
    ['retry', ['200 handled']],
    ['large', ['200 handled']],
    ['older', ['200 handled']],
    ['ahead', ['200 handled']],
    ['unsigned', ['401 missing_signature']],
    ['empty-signature', ['401 malformed_signature']],
    ['wrong-secret', ['401 signature_mismatch']],
    ['unset-secret', Array<string>(3).fill('401 signature_mismatch')],
    ['flipped-bit', ['401 signature_mismatch']],
    ['truncated', ['401 signature_mismatch']],
    ['stale', ['401 timestamp_too_old']],
    ['future', ['401 timestamp_in_future']],
    ['moved-time', ['401 signature_mismatch']],
    ['time-not-signed', ['401 signature_mismatch']],
    ['stripped-v2', ['401 legacy_not_accepted']],
    ['broken-v2', ['401 signature_mismatch', '401 malformed_signature']],
    ['short-signature', ['401 malformed_signature', '401 malformed_signature']],
    ['many-signatures', ['401 malformed_signature']],
    ['large-forgery', ['401 signature_mismatch']],
    ['duplicate', ['200 handled', '200 duplicate']],
    ['duplicate-new-key', ['200 handled', '200 duplicate']],
    ['shared-key', ['200 handled', '200 handled']],
    ['same-moment', ['200 handled', ...Array<string>(4).fill('200 duplicate')]],
    ['burst', Array<string>(20).fill('200 handled')],
    ['slow-body', ['200 handled']],
    ['broken-off', ['200 handled', '200 handled']],
    ['no-event', ['400 invalid_json']],
  ])('send what a receiver takes for what it is: %s', async (name, answers) => {
    expect(await answersTo(name)).toEqual(answers);
    expect(await answersTo(name, 'My-App')).toEqual(answers);
  });
});
