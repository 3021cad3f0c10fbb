import { createHmac } from 'node:crypto';
import { verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';

const PREFIX = 'My-App';
const V2 = 'my-app-signature-v2';
const LEGACY = 'my-app-signature';
const requests = createRequests(SECRET, PREFIX);

interface Request {
  headers: Record<string, string>;
  body: Uint8Array;
}

const textOf = ({ body }: Request) => Buffer.from(body).toString();
const eventOf = (request: Request) => JSON.parse(textOf(request));
const schemeOf = (request: Request) =>
  verify({ headers: request.headers, body: request.body, secret: SECRET, headerPrefix: PREFIX }).scheme;
const macOf = (text: string, secret: string = SECRET) => createHmac('sha256', secret).update(text).digest('hex');

describe('what a probe sends', () => {
  it('what a probe sends is a good delivery of a new event each time, under a key of its own', () => {
    const [one, two] = [requests.good(), requests.good()];
    expect([schemeOf(one), schemeOf(two)]).toEqual(['v2', 'v2']);
    expect(eventOf(one).id).toMatch(/^evt_doctor_[0-9a-f-]{36}$/);
    expect(eventOf(one).id).not.toBe(eventOf(two).id);
    expect(one.headers['idempotency-key']).toMatch(/^key_[0-9a-f-]{36}$/);
    expect(one.headers['idempotency-key']).not.toBe(two.headers['idempotency-key']);
  });

  it('what a probe sends is written as no parser and writer gives it back', () => {
    const text = textOf(requests.good());
    expect(text).toContain('"feature": "caf\\u00e9 日本"');
    expect(text).toContain('"durationSec": 4.20,');
    expect(text).toMatch(/^\{ .* \}$/);
    expect(eventOf(requests.good()).data).toMatchObject({ feature: 'café 日本', durationSec: 4.2 });
  });

  it('what a probe sends is any attempt, and one of each type', () => {
    expect(requests.good({ attempt: 3 }).headers['my-app-attempt']).toBe('3');
    const each = requests.ofEachType();
    expect(each.map((request) => eventOf(request).type)).toEqual(WEBHOOK_EVENT_TYPES);
    expect(each.map((request) => Object.keys(eventOf(request).data).length > 0)).toEqual(
      WEBHOOK_EVENT_TYPES.map((type) => type === 'generation.completed'),
    );
    expect(new Set(each.map(schemeOf))).toEqual(new Set(['v2']));
  });

  it('what a probe sends has the fields, the size or the body that are asked for', () => {
    expect(eventOf(requests.withFields({ type: 'new', more: 1 }))).toMatchObject({
      ...{ id: expect.stringMatching(/^evt_doctor_/), type: 'new', more: 1 },
    });
    expect(eventOf(requests.large(1_000)).data).toMatchObject({ text: 'x'.repeat(1_000) });
    const { headers, body } = requests.withBody('no JSON');
    expect(textOf({ headers, body })).toBe('no JSON');
    expect(headers[V2]).toMatch(/^t=(\d+),v1=[0-9a-f]{64}$/);
    const [, t] = /^t=(\d+)/.exec(headers[V2] ?? '') ?? [];
    expect(headers[V2]).toContain(macOf(`${t}.no JSON`));
  });

  it('what a probe sends has other values in place of its signatures, or none', () => {
    const { headers } = requests.resigned({ v2: 'a', legacy: '' });
    expect(headers).toMatchObject({ [V2]: 'a', [LEGACY]: '', 'my-app-attempt': '1' });
    const { headers: unsigned } = requests.resigned({});
    expect(Object.keys(unsigned).filter((name) => name.includes('signature'))).toEqual([]);
    expect(unsigned).toHaveProperty('idempotency-key');
  });

  it('what a probe sends has a right legacy signature beside another one', () => {
    const request = requests.withV2('a');
    expect(request.headers).toMatchObject({ [V2]: 'a', [LEGACY]: `sha256=${macOf(textOf(request))}` });
  });

  it('what a probe sends is signed with a secret that was guessed', () => {
    const request = requests.guessed('undefined');
    const [, t] = /^t=(\d+),/.exec(request.headers[V2] ?? '') ?? [];
    expect(t).toBe(request.headers['my-app-timestamp']);
    expect(request.headers).toMatchObject({
      [V2]: `t=${t},v1=${macOf(`${t}.${textOf(request)}`, 'undefined')}`,
      [LEGACY]: `sha256=${macOf(textOf(request), 'undefined')}`,
    });
    expect(requests.guessed('').headers[LEGACY]).toMatch(/^sha256=[0-9a-f]{64}$/);
  });

  it('what a probe sends has the signature of the body alone in the place of one with its time', () => {
    const request = requests.withoutTime();
    const t = request.headers['my-app-timestamp'];
    expect(request.headers[V2]).toBe(`t=${t},v1=${macOf(textOf(request))}`);
  });

  it('what a probe sends has its time moved to now', () => {
    const request = requests.timeMoved();
    const t = Number(request.headers['my-app-timestamp']);
    expect(request.headers[V2]).toBe(`t=${t},v1=${macOf(`${t - 3_600}.${textOf(request)}`)}`);
  });
});
