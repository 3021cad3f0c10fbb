import { createHmac } from 'node:crypto';
import { verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { aReceiver, inShort, SECRET } from '../../../../../test/support/deliveries.js';
import { PROBES, type Probe } from '../../../src/commands/doctor/probes.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';

type Request = ReturnType<Probe['requests']>[number];

const V2 = 'x-service-signature-v2';
const LEGACY = 'x-service-signature';
const requestsOf = (name: string, prefix = 'x-service') =>
  PROBES.find((one) => one.name === name)?.requests(createRequests(SECRET, prefix)) ?? expect.fail(name);
const theRequestOf = (name: string) => requestsOf(name)[0] as Request;
const textOf = ({ body }: { body: Uint8Array }) => Buffer.from(body).toString();
const eventsOf = (name: string) => requestsOf(name).map((request) => JSON.parse(textOf(request)));
const headersOf = (name: string, header: string) => requestsOf(name).map(({ headers }) => headers[header]);
const macOf = (content: string, secret: string = SECRET) => createHmac('sha256', secret).update(content).digest('hex');

/** What a receiver of this library says to the requests of a probe, one after the other. */
async function answersTo(name: string, headerPrefix = 'x-service'): Promise<string[]> {
  const { receiver } = aReceiver({ now: Date.now, headerPrefix });
  const answers: string[] = [];
  for (const request of requestsOf(name, headerPrefix)) answers.push(inShort(await receiver(request)));
  return answers;
}

describe('the probes of doctor', () => {
  it('each probe has a unique name, a description and a fix', () => {
    expect(new Set(PROBES.map(({ name }) => name)).size).toBe(PROBES.length);
    for (const { says, fix } of PROBES) expect([says, fix]).toEqual(Array(2).fill(expect.stringMatching(/\w+ \w+/)));
  });

  it('the probe good is the first, and there are four groups', () => {
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
  ])('a receiver of this library gives the expected answers to the probe %s', async (name, answers) => {
    expect(await answersTo(name)).toEqual(answers);
    expect(await answersTo(name, 'My-App')).toEqual(answers);
  });
});

describe('the requests that the probes of doctor send', () => {
  it('each good delivery has its own event id and its own Idempotency-Key', () => {
    const [[one], [two]] = [requestsOf('good'), requestsOf('good')] as [[Request], [Request]];
    const idOf = (request: Request) => JSON.parse(textOf(request)).id;
    expect(idOf(one)).toMatch(/^evt_doctor_[0-9a-f-]{36}$/);
    expect(idOf(one)).not.toBe(idOf(two));
    expect(one.headers['idempotency-key']).toMatch(/^key_[0-9a-f-]{36}$/);
    expect(one.headers['idempotency-key']).not.toBe(two.headers['idempotency-key']);
  });

  it('the body of a good delivery is not what JSON.stringify makes from it', () => {
    const text = textOf(theRequestOf('good'));
    expect(text).toContain('"feature": "caf\\u00e9 日本"');
    expect(text).toContain('"durationSec": 4.20,');
    expect(text).toMatch(/^\{ .* \}$/);
    expect(JSON.parse(text).data).toMatchObject({ feature: 'café 日本', durationSec: 4.2 });
  });

  it('each type, an unknown type, a later version and a later attempt are sent', () => {
    expect(eventsOf('every-type').map(({ type }) => type)).toEqual(WEBHOOK_EVENT_TYPES);
    const withData = eventsOf('every-type').filter(({ data }) => Object.keys(data).length > 0);
    expect(withData).toMatchObject([{ type: 'generation.completed' }]);
    expect(eventsOf('new-type')).toMatchObject([{ id: expect.stringMatching(/^evt_doctor_/), type: 'doctor.unknown' }]);
    expect(eventsOf('new-version')).toMatchObject([{ version: '2099-01-01' }]);
    expect(headersOf('retry', 'x-service-attempt')).toEqual(['3']);
  });

  it('a large body is as large as its probe says', () => {
    for (const [name, bytes] of Object.entries({ large: 512 * 1024, 'large-forgery': 1024 * 1024 })) {
      expect(theRequestOf(name).body.length).toBeGreaterThan(bytes);
      expect(theRequestOf(name).body.length).toBeLessThan(bytes + 1_000);
    }
  });

  it('one event is sent several times, and two events under one key', () => {
    expect(headersOf('duplicate', 'x-service-attempt')).toEqual(['1', '2']);
    expect(headersOf('same-moment', 'x-service-attempt')).toEqual(['1', '2', '3', '4', '5']);
    const sizes = ['duplicate', 'same-moment', 'shared-key'].map(
      (name) => new Set(eventsOf(name).map(({ id }) => id)).size,
    );
    expect(sizes).toEqual([1, 1, 2]);
    expect(new Set(headersOf('shared-key', 'idempotency-key')).size).toBe(1);
  });

  it('some requests are sent at once, slowly, not to the end, or without an event', () => {
    expect(PROBES.filter(({ atOnce }) => atOnce).map(({ name }) => name)).toEqual(['same-moment', 'burst']);
    expect(theRequestOf('slow-body').slowMs).toBe(1_000);
    expect(requestsOf('broken-off').map(({ breakOff }) => breakOff)).toEqual([true, undefined]);
    expect(textOf(theRequestOf('no-event'))).toBe('{"id":');
    expect(textOf(theRequestOf('truncated'))).toMatch(/^\{ .*"timestamp": "[^"]+" $/);
  });

  it('signatures are missing, empty, too short, too many, or next to a valid legacy one', () => {
    const signatures = (name: string) => requestsOf(name).map(({ headers }) => [headers[V2], headers[LEGACY]]);
    expect(signatures('unsigned')).toEqual([[undefined, undefined]]);
    expect(theRequestOf('unsigned').headers).toMatchObject({
      'x-service-attempt': '1',
      'idempotency-key': expect.any(String),
    });
    expect(signatures('empty-signature')).toEqual([['', '']]);
    expect(signatures('short-signature')).toEqual([
      [expect.stringMatching(/^t=\d+,v1=$/), 'sha256='],
      [expect.stringMatching(/^t=\d+,v1=00$/), 'sha256=00'],
    ]);
    expect(signatures('many-signatures')).toEqual([[expect.stringMatching(/^t=\d+(,v1=0{64}){100}$/), undefined]]);
    const [zeros, word] = requestsOf('broken-v2') as [Request, Request];
    expect([zeros.headers[V2], word.headers[V2]]).toEqual([expect.stringMatching(/^t=\d+,v1=0{64}$/), 'v2']);
    for (const { headers, body } of [zeros, word]) expect(headers[LEGACY]).toBe(`sha256=${macOf(textOf({ body }))}`);
  });

  it('the probe unset-secret signs with an empty secret, with "undefined" and with "null"', () => {
    const secrets = ['', 'undefined', 'null'];
    for (const [index, request] of requestsOf('unset-secret').entries()) {
      const t = request.headers['x-service-timestamp'];
      expect(request.headers).toMatchObject({
        [V2]: `t=${t},v1=${macOf(`${t}.${textOf(request)}`, secrets[index])}`,
        [LEGACY]: `sha256=${macOf(textOf(request), secrets[index])}`,
      });
    }
  });

  it('the timestamp is moved to now behind an old signature, or is not signed', () => {
    const [moved, unsigned] = [theRequestOf('moved-time'), theRequestOf('time-not-signed')];
    const t = Number(moved.headers['x-service-timestamp']);
    expect(moved.headers[V2]).toBe(`t=${t},v1=${macOf(`${t - 3_600}.${textOf(moved)}`)}`);
    expect(unsigned.headers[V2]).toBe(`t=${unsigned.headers['x-service-timestamp']},v1=${macOf(textOf(unsigned))}`);
  });

  it('a body that is no event has a valid signature', () => {
    const { headers, body } = theRequestOf('no-event');
    expect(() => verify({ headers, body, secret: SECRET })).toThrow('invalid_json');
  });
});
