import fc from 'fast-check';
import {
  createReceiver,
  type DedupeStore,
  isNotice,
  memoryStore,
  type Outcome,
  PermanentError,
  type ReceiverOptions,
  sign,
  verify,
  WebhookError,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { aStore, bodyOf, NOW, now, SECRET, verdict } from '../support/deliveries.js';
import { BODY, bodies, bytes, headers, often } from './arbitraries.js';
import { holds, options } from './holds.js';

const isDecision = (outcome: Outcome) => !isNotice(outcome);

/** Whatever may be thrown or returned, wrong as it is. */
const anything = () =>
  fc.oneof(
    fc.constantFrom<unknown>(undefined, null, 0, '', 'text', { code: 'x' }, [], Object.freeze(new Error('frozen'))),
    fc.integer({ min: 0, max: 1000 }).map((status) => ({ status })),
  );

/** Code that returns, throws, resolves or rejects. */
const code = (value: fc.Arbitrary<unknown>) =>
  fc.tuple(fc.constantFrom('return', 'throw', 'resolve', 'reject'), value).map(([how, result]) => () => {
    if (how === 'throw') throw result;
    if (how === 'return') return result;
    return how === 'resolve' ? Promise.resolve(result) : Promise.reject(result);
  });

/** Unlike a framework's, a user's code knows the errors of this library. */
const userCode = () =>
  code(fc.oneof(anything(), fc.constantFrom(new PermanentError(), new WebhookError('delivery_in_progress'))));

/** Streams of the body, which may fail, and of what is no bytes. */
const streams = () =>
  fc
    .tuple(
      fc.oneof(often(fc.nat().map(inTwo)), fc.array(fc.oneof(bytes(), anything()))),
      fc.oneof(often(fc.constant(() => {})), code(anything())),
    )
    .map(([chunks, end]) =>
      (async function* () {
        yield* chunks;
        await end();
      })(),
    );

const inTwo = (place: number): unknown[] => {
  const all = new TextEncoder().encode(BODY);
  return [all.subarray(0, place % all.length), all.subarray(place % all.length)];
};

const requests = () =>
  fc
    .record({
      method: fc.oneof(often(fc.constant('POST')), fc.constantFrom('GET', 'post', '', undefined, 7)),
      headers: fc.oneof(
        often(fc.constant(sign({ body: BODY, secret: SECRET, at: NOW }))),
        headers(),
        fc.constantFrom(undefined, null, 'x', 7, [7], [[]], new Headers()),
      ),
      extra: fc.oneof(
        often(fc.constant({})),
        fc.dictionary(fc.constantFrom('content-length', 'content-encoding', 'idempotency-key'), fc.string()),
      ),
      body: fc.oneof(often(fc.constant(BODY)), often(streams()), bytes(), anything()),
      signal: fc.constantFrom(undefined, undefined, AbortSignal.abort()),
    })
    .map(({ headers: some, extra, ...rest }) => {
      const plain = typeof some === 'object' && some !== null && !(Symbol.iterator in some);
      return { ...rest, headers: plain ? { ...some, ...extra } : some } as unknown as WebhookRequest;
    });

/** A store of which any method may be user code gone wrong. */
const stores = () =>
  fc
    .dictionary(fc.constantFrom('init', 'claim', 'extend', 'complete', 'release'), userCode())
    .map((methods) => aStore(methods as Partial<DedupeStore>));

const receiverOptions = () =>
  fc.record({
    secret: fc.oneof(often(fc.constant(SECRET)), userCode()),
    legacy: fc.constantFrom('reject', 'accept'),
    maxBodyBytes: fc.constantFrom(1, BODY.length, 10_000),
    handler: fc.option(userCode(), { nil: undefined }),
    observe: userCode(),
    dedupe: fc.oneof(
      fc.constant(false as const),
      fc.record({ store: stores(), onStoreError: fc.constantFrom('refuse', 'process') }),
    ),
  });

const endings = () => fc.constantFrom('ok', 'failed', 'unknown');

/** What the store is told when a response has ended so. */
const TOLD = { ok: ['complete'], failed: ['release'], unknown: [] };

/** The store could not claim, and another stands in for it. */
const isLostClaim = (outcome: Outcome) => outcome.kind === 'store_error' && outcome.operation === 'claim';

describe('a receiver with any request and any user code', () => {
  it('each request gets exactly one well-formed answer', options, () =>
    holds([requests(), receiverOptions()], async (request, given) => {
      const watched = watch(given);
      expectOneAnswer(await watched.receiver(request), watched);
    }),
  );

  it('each request gets exactly one well-formed answer by begin and settle', options, () =>
    holds([requests(), receiverOptions(), endings()], async (request, given, ended) => {
      const watched = watch(given);
      const { receiver, outcomes, store } = watched;
      const begun = await receiver.begin(request);
      if ('response' in begun) return expectOneAnswer(begun.response, watched);
      const asked = store?.calls.length;
      const [first, ...others] = await Promise.all([begun.settle(ended), begun.settle('ok'), begun.settle('failed')]);
      for (const other of others) expect(other).toBe(first);
      expectOneAnswer(first, watched);
      expect(outcomes.find(isDecision)).toHaveProperty('kind', ended === 'ok' ? 'handled' : 'failed');
      if (!outcomes.some(isLostClaim)) expect(store?.calls.slice(asked)).toEqual(store && TOLD[ended]);
    }),
  );

  it('the chunks of a body do not matter', options, () =>
    holds([fc.oneof(bodies(), fc.string()), fc.array(fc.nat(), { maxLength: 10 })], async (body, cuts) => {
      const receiver = createReceiver({ secret: SECRET, now, dedupe: false, on: { '*': () => {} }, maxBodyBytes: 500 });
      const request = { method: 'POST', headers: sign({ body, secret: SECRET, at: NOW }) };
      const all = new TextEncoder().encode(body);
      const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
      async function* chunks() {
        for (const [i, place] of places.entries()) yield all.subarray(place, places[i + 1] ?? all.length);
      }
      expect(await receiver({ ...request, body: chunks() })).toEqual(await receiver({ ...request, body: all }));
    }),
  );

  it('no handler runs for a delivery that verify refuses', options, () =>
    holds([headers(), fc.oneof(often(fc.constant(BODY)), bytes())], async (sent, body) => {
      const seen: unknown[] = [];
      const receiver = createReceiver({ secret: SECRET, now, dedupe: false, on: { '*': (event) => seen.push(event) } });
      await receiver({ method: 'POST', headers: sent, body });
      const found = await verdict(() => verify({ headers: sent, body, secret: SECRET, now }));
      expect(seen).toHaveLength(found === 'v2' ? 1 : 0);
    }),
  );

  it('no handler runs after an attempt of the event was acknowledged', options, () =>
    holds([fc.array(userCode(), { minLength: 1, maxLength: 6 })], async (attempts) => {
      const dedupe = { store: memoryStore(), name: 'one-endpoint' };
      const body = bodyOf({ id: 'evt_same' });
      let done = false;
      let runsAfterwards = 0;
      for (const attempt of attempts) {
        const handler = () => {
          if (done) runsAfterwards += 1;
          return attempt();
        };
        const receiver = createReceiver({ secret: SECRET, now, dedupe, on: { '*': handler } });
        const { status } = await receiver({ method: 'POST', headers: sign({ body, secret: SECRET, at: NOW }), body });
        done ||= status < 300;
      }
      expect(runsAfterwards).toBe(0);
    }),
  );
});

type Given = ReturnType<typeof receiverOptions> extends fc.Arbitrary<infer Value> ? Value : never;

/** A receiver, with what its observer, its handler and its store get to see. */
function watch({ handler, observe, ...rest }: Given) {
  const watched = { outcomes: [] as Outcome[], handled: 0, store: rest.dedupe ? rest.dedupe.store : undefined };
  const receiver = createReceiver({
    ...(rest as unknown as ReceiverOptions),
    now,
    on: handler && {
      '*': () => {
        watched.handled += 1;
        return handler();
      },
    },
    observe(outcome) {
      watched.outcomes.push(outcome);
      return observe();
    },
  });
  return Object.assign(watched, { receiver });
}

function expectOneAnswer(response: WebhookResponse, { outcomes, handled }: ReturnType<typeof watch>): void {
  expectWellFormed(response);
  expect(outcomes.filter(isDecision)).toHaveLength(1);
  expect(handled).toBeLessThanOrEqual(1);
  if (response.status < 300 || handled > 0) expect(outcomes.find(isDecision)).toHaveProperty('delivery.event.id');
}

function expectWellFormed({ status, headers, body }: WebhookResponse): void {
  expect(status).toSatisfy((value: number) => Number.isInteger(value) && value >= 200 && value <= 599);
  expect(new Headers(headers).get('content-type')).toBe('application/json');
  expect(body).not.toContain(SECRET);
  const { error, outcome } = JSON.parse(body || '{ "outcome": "" }');
  if (body === '') expect([204, 205]).toContain(status);
  if (status < 400) expect(outcome).toEqual(expect.any(String));
  else expect(Object.keys(error)).toEqual(['type', 'code', 'message', 'status']);
}
