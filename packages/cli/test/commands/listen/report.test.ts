import { gzipSync } from 'node:zlib';
import { WebhookError } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aDelivery, bodyOf, type DeliveryParts, NOW, now, SECRET } from '../../../../../test/support/deliveries.js';
import type { Handled } from '../../../src/commands/listen/handle-request.js';
import { inspect, isRefused } from '../../../src/commands/listen/inspection.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';
import { createExplainer, EXPLANATIONS, report } from '../../../src/commands/listen/report.js';
import type { Advice } from '../../../src/diagnosis/advice.js';
import { printedBy } from '../support.js';

const options = { secrets: [SECRET], checks: {}, now } as unknown as ListenOptions;
type Reported = Exclude<Handled, { kind: 'ignored' }>;
const CLOCK = ['faint', '12:00:00Z'];

function reported(handled: Reported, advice?: Advice) {
  const isRefusedOne = handled.kind === 'delivery' && isRefused(handled.inspection);
  const cause = isRefusedOne ? createExplainer(options)(handled.message) : undefined;
  const refusal = { cause, advice };
  const { record, lines } = printedBy((out) => report(out, handled, { at: NOW, ms: 8, path: '/hook' }, refusal));
  const [line = [], ...more] = lines;
  return { record, line, more };
}

const toMessage = ({ headers, body }: ReturnType<typeof aDelivery>) => ({
  ...{ method: 'POST', path: '/hook', headers: Object.entries(headers), body: Buffer.from(body as string) },
});

function aHandled(changes: { headers?: Record<string, string>; body?: string; secrets?: undefined; answer?: string }) {
  const { headers, body } = { ...aDelivery(), ...changes };
  const message = toMessage({ headers, body });
  const inspection = inspect(message, 'secrets' in changes ? { ...options, secrets: undefined } : options);
  const response = { status: 200, headers: {}, body: changes.answer ?? '{"outcome":"handled"}' };
  return { kind: 'delivery' as const, message, inspection, response, capture: undefined };
}

const BYTES = ['faint', `${bodyOf().length} B`];

describe('the line that listen prints about a request', () => {
  it('a genuine request has its scheme, type, id, attempt, size and the answer', () => {
    const { headers } = aDelivery({ headers: { 'X-Service-Attempt': '2' } });
    const { record, line, more } = reported(aHandled({ headers }));
    expect(record).toEqual({
      ...{ kind: 'delivery', at: '2026-07-11T12:00:00.000Z', path: '/hook', verdict: 'verified', scheme: 'v2' },
      ...{ type: 'stt.completed', id: 'evt_1', attempt: '2', bytes: bodyOf().length },
      ...{ status: 200, outcome: 'handled', ms: 8 },
    });
    expect(line).toEqual([
      ...[CLOCK, ['good', 'verified v2'], 'stt.completed', 'evt_1', 'attempt 2', BYTES],
      ...[200, 'handled', ['faint', '8 ms'], undefined],
    ]);
    expect(more).toEqual([]);
  });

  it('a refused request has the cause and the fix below it', () => {
    const answer = '{"error":{"code":"missing_signature"}}';
    const { record, line, more } = reported(aHandled({ headers: {}, answer }));
    expect(record).toMatchObject({ verdict: 'missing_signature', outcome: 'missing_signature' });
    expect(line.slice(1, 3)).toEqual([['bad', 'missing_signature'], 'stt.completed']);
    expect(line.slice(6)).toEqual([200, undefined, ['faint', '8 ms'], undefined]);
    const { cause, certainty, evidence, fix } = record['cause'] as Record<string, string>;
    expect(more.map(([text]) => String(text).trim()).join(' ')).toBe(`${cause} (${certainty}): ${evidence} ${fix}`);
    expect(evidence).toMatch(/\w/);
  });

  it('a further app that does not answer has the reason and the fix on its own line', () => {
    const [url, other] = ['http://127.0.0.1:3000/hook', 'http://127.0.0.1:3001/hook'];
    const forwarded = { url, sent: { status: 500, headers: {}, body: '', ms: 3 } };
    const why = { problem: 'nothing listens there', fix: 'Start the app, or correct the port.' };
    const { record, more } = reported({
      ...aHandled({}),
      forwarded,
      others: [{ url: other, sent: { ...why, ms: 2 } }],
    });
    expect(record).toMatchObject({ alsoForwarded: [{ url: other, status: null, ...why }] });
    expect(more).toEqual([['          →', other, ['bad', 'no answer'], ['faint', '2 ms'], why.problem, why.fix]]);
  });

  it('a request that was not verified has a warning', () => {
    const { record, line, more } = reported(aHandled({ secrets: undefined }));
    expect(record['cause']).toBeUndefined();
    expect(line[1]).toEqual(['warn', 'unverified']);
    expect(more).toEqual([]);
  });

  it('a body that is no event is printed as such, with its size', () => {
    const { record, line } = reported(aHandled({ headers: {}, body: '[]', answer: 'no JSON' }));
    expect(record).toMatchObject({ outcome: undefined, bytes: 2 });
    expect(record).not.toHaveProperty('type');
    expect(line.slice(2, 6)).toEqual(['no event', undefined, undefined, ['faint', '2 B']]);
  });

  it('the line has the answer of the app and the id of the capture', () => {
    const sent = { status: 500, headers: {}, body: 'oh no', ms: 3 };
    const { record, line } = reported({
      ...aHandled({}),
      ...{ forwarded: { url: 'http://a.test/', sent }, capture: { id: 'abcd', file: 'dir/abcd.http' } },
    });
    expect(record).toMatchObject({
      ...{ capture: 'abcd', file: 'dir/abcd.http', outcome: undefined },
      forwarded: { url: 'http://a.test/', status: 500, acknowledged: false, ms: 3, answer: 'oh no' },
    });
    expect(line.slice(6, 10)).toEqual(['→', ['bad', 500], 'not acknowledged', ['faint', '3 ms']]);
    expect(line.at(-1)).toEqual(['faint', 'abcd']);
  });

  it('a delivery that the app refuses has the advice below it, and in the record', () => {
    const sent = { status: 401, headers: {}, body: '', ms: 3 };
    const advice = { cause: 'other_secret', message: 'Your app has another secret.', fix: 'Compare them.' } as const;
    const { record, more } = reported({ ...aHandled({}), forwarded: { url: 'http://a.test/', sent } }, advice);
    expect(record['advice']).toEqual(advice);
    expect(more).toEqual([['   Your app has another secret.'], ['   Compare them.']]);
  });

  it('the line is short, however long the names in the request are', () => {
    const long = 'x'.repeat(61);
    const body = JSON.stringify({ type: long, id: long });
    const { line } = reported(aHandled({ body, headers: { 'x-service-attempt': '12345678901' } }));
    expect(line.slice(2, 5)).toEqual([`${'x'.repeat(60)}…`, `${'x'.repeat(60)}…`, 'attempt 1234567890…']);
  });

  it('a request that could not be handled has the message and the hint of its error', () => {
    const problem = new WebhookError('method_not_allowed');
    const of = (problem: WebhookError | Error | string) =>
      reported({ kind: 'problem', response: { status: 405, headers: {}, body: '' }, problem } as Reported);
    const { record, line, more } = of(problem);
    expect(record).toEqual({
      ...{ kind: 'problem', at: '2026-07-11T12:00:00.000Z', path: '/hook' },
      ...{ code: 'method_not_allowed', message: 'The request is not a POST.', hint: problem.hint },
    });
    expect(line).toEqual([CLOCK, ['bad', 'The request is not a POST.'], '/hook']);
    expect(more).toEqual([[`   ${problem.hint}`]]);
    expect(of('gone').record).toMatchObject({ message: 'gone', hint: undefined });
    expect(of(new Error('full')).record).toMatchObject({ message: 'full', hint: undefined });
  });
});

const aMessage = (parts?: DeliveryParts) => toMessage(aDelivery(parts));
const unsigned = (bytes: number) => ({ ...aMessage(), headers: [], body: Buffer.alloc(bytes) });

describe('the explainer of listen', () => {
  it('the most certain cause of a refusal is returned', () => {
    expect(createExplainer(options)(aMessage({ at: NOW - 3_600_000 }))).toMatchObject({ cause: 'clock_ahead' });
  });

  it('a body over the limit is not explained', () => {
    const explain = createExplainer(options);
    expect(explain(unsigned(EXPLANATIONS.maxBodyBytes))).toBeDefined();
    expect(explain(unsigned(EXPLANATIONS.maxBodyBytes + 1))).toBeUndefined();
  });

  it.each([
    ['a number of requests', 1, EXPLANATIONS.count],
    ['a number of bytes', EXPLANATIONS.maxBodyBytes, EXPLANATIONS.bytes / EXPLANATIONS.maxBodyBytes],
  ])('forged requests are explained up to %s', (_, bytes, count) => {
    vi.spyOn(performance, 'now').mockReturnValue(5_000); // no new window begins on a slow machine
    const explain = createExplainer(options);
    const explained = Array.from({ length: EXPLANATIONS.count + 5 }, () => explain(unsigned(bytes)));
    expect(explained.filter(Boolean)).toHaveLength(count);
  });

  it('a decompression bomb is not expanded to find the cause', () => {
    const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024));
    const small = gzipSync(Buffer.alloc(512 * 1024));
    const headers = (body: Uint8Array) => Object.entries(aDelivery({ body }).headers);
    const sent = (plain: number, body: Buffer) => ({ ...aMessage(), headers: headers(Buffer.alloc(plain)), body });
    expect(createExplainer(options)(sent(4 * 1024 * 1024, bomb))).not.toMatchObject({ cause: 'compressed' });
    expect(createExplainer(options)(sent(512 * 1024, small))).toMatchObject({ cause: 'compressed' });
  });
});
