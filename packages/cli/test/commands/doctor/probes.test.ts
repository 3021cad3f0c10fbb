import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aReceiver, inShort, SECRET } from '../../../../../test/support/deliveries.js';
import { PROBES, type Probe } from '../../../src/commands/doctor/probes.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';

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

  it('the probes are in four groups, and a good delivery is the first', () => {
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
    ['duplicate-new-key', ['200 handled', '200 duplicate', '200 duplicate']],
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

describe('what a probe sends', () => {
  const V2 = 'x-service-signature-v2';
  const LEGACY = 'x-service-signature';
  const textOf = ({ body }: { body: Uint8Array }) => Buffer.from(body).toString();
  const one = (name: string) => requestsOf(name)[0] as ReturnType<Probe['requests']>[number];
  const all = (name: string, header: string) => requestsOf(name).map(({ headers }) => headers[header]);
  const idsOf = (name: string) => new Set(requestsOf(name).map((request) => JSON.parse(textOf(request)).id));

  it('what a probe sends is of an unknown type, a later version or a later attempt', () => {
    expect(JSON.parse(textOf(one('new-type')))).toMatchObject({ type: 'doctor.unknown' });
    expect(JSON.parse(textOf(one('new-version')))).toMatchObject({ version: '2099-01-01' });
    expect(all('retry', 'x-service-attempt')).toEqual(['3']);
  });

  it('what a probe sends is as large as it says', () => {
    for (const [name, bytes] of Object.entries({ large: 512 * 1024, 'large-forgery': 1024 * 1024 })) {
      expect(one(name).body.length).toBeGreaterThan(bytes);
      expect(one(name).body.length).toBeLessThan(bytes + 1_000);
    }
  });

  it('what a probe sends is one event several times, or two events under one key', () => {
    expect(all('duplicate', 'x-service-attempt')).toEqual(['1', '2']);
    expect(all('same-moment', 'x-service-attempt')).toEqual(['1', '2', '3', '4', '5']);
    expect([idsOf('duplicate').size, idsOf('same-moment').size, idsOf('shared-key').size]).toEqual([1, 1, 2]);
    const [first, second] = all('shared-key', 'idempotency-key');
    expect(second).toBe(first);
  });

  it('what a probe sends is sent at once, slowly or not to the end', () => {
    expect(PROBES.filter(({ atOnce }) => atOnce).map(({ name }) => name)).toEqual(['same-moment', 'burst']);
    expect(one('slow-body').slowMs).toBe(1_000);
    expect(requestsOf('broken-off').map(({ breakOff }) => breakOff)).toEqual([true, undefined]);
    expect(textOf(one('no-event'))).toBe('{"id":');
    expect(textOf(one('truncated'))).toMatch(/^\{ .*"timestamp": "[^"]+" $/);
  });

  it('what a probe sends has signatures that are missing, empty, short, many or of another form', () => {
    const wrong = (name: string) => requestsOf(name).map(({ headers }) => [headers[V2], headers[LEGACY]]);
    const right = /^sha256=[0-9a-f]{64}$/;
    expect(wrong('unsigned')).toEqual([[undefined, undefined]]);
    expect(wrong('empty-signature')).toEqual([['', '']]);
    expect(wrong('short-signature')).toEqual([
      [expect.stringMatching(/^t=\d+,v1=$/), 'sha256='],
      [expect.stringMatching(/^t=\d+,v1=00$/), 'sha256=00'],
    ]);
    expect(wrong('many-signatures')).toEqual([[expect.stringMatching(/^t=\d+(,v1=0{64}){100}$/), undefined]]);
    expect(wrong('broken-v2')).toEqual([
      [expect.stringMatching(/^t=\d+,v1=0{64}$/), expect.stringMatching(right)],
      ['v2', expect.stringMatching(right)],
    ]);
  });

  it('what a probe sends is signed with what stands where a secret was never set', () => {
    const secrets = ['', 'undefined', 'null'];
    const given = requestsOf('unset-secret').map((request, index) => {
      const mac = createHmac('sha256', secrets[index] ?? 'none')
        .update(request.body)
        .digest('hex');
      return request.headers[LEGACY] === `sha256=${mac}`;
    });
    expect(given).toEqual([true, true, true]);
  });
});
