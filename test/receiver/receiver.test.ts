import {
  type BegunDelivery,
  type HandlerContext,
  PermanentError,
  type Receiver,
  WEBHOOK_EVENT_TYPES,
  type WebhookRequest,
} from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, later, NOW, never, now, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';

const OTHER = 'whsec_another-tenant';

const throwing = (): never => {
  throw new Error('a trap');
};

describe('the handlers', () => {
  it('each get the events of their type and no others', async () => {
    const on = Object.fromEntries(WEBHOOK_EVENT_TYPES.map((type) => [type, vi.fn()]));
    const { receiver } = aReceiver({ on });
    const data = {
      clipId: 'clip_1',
      feature: 'text-to-speech',
      durationSec: 1,
      downloadUrl: 'https://storage.example/',
    };
    for (const [i, type] of WEBHOOK_EVENT_TYPES.entries()) {
      expect(inShort(await receiver(aRequest({ event: { id: `evt_${i}`, type, data } })))).toBe('200 handled');
      expect(on[type]).toHaveBeenCalledOnce();
    }
    for (const [type, handler] of Object.entries(on)) expect(handler.mock.calls[0]?.[0].type).toBe(type);
  });

  it("the handler '*' receives every event without a handler of its own, known or not", async () => {
    const [own, rest] = [vi.fn(), vi.fn()];
    const { receiver } = aReceiver({ on: { 'stt.completed': own, 'stt.failed': undefined, '*': rest } });
    for (const type of ['stt.completed', 'stt.failed', 'video.completed', '*', 'constructor', '__proto__']) {
      expect(inShort(await receiver(aRequest({ event: { id: `evt_${type}`, type } })))).toBe('200 handled');
    }
    expect(own).toHaveBeenCalledOnce();
    expect(rest.mock.calls.map(([{ type }]) => type)).toEqual([
      'stt.failed',
      'video.completed',
      '*',
      'constructor',
      '__proto__',
    ]);
  });

  it.each(['stt.failed', 'video.completed', 'constructor', '__proto__', 'toString', '*'])(
    'an event without a handler, %s, is acknowledged as ignored, and no store is asked',
    async (type) => {
      const store = aStore();
      const handler = vi.fn();
      const { receiver, answers, find } = aReceiver({ on: { 'stt.completed': handler }, dedupe: { store } });
      expect(inShort(await receiver(aRequest({ event: { type } })))).toBe('200 ignored');
      expect(find('ignored').delivery.event.type).toBe(type);
      expect(answers()).toEqual(['ignored']);
      expect(handler).not.toHaveBeenCalled();
      expect(store.calls).toEqual([]);
    },
  );

  it('the handlers may be none at all', async () => {
    for (const on of [undefined, {}]) {
      expect(inShort(await aReceiver({ on }).receiver(aRequest()))).toBe('200 ignored');
    }
  });

  it('the handlers are those of the moment when the receiver was made', async () => {
    const on: Record<string, () => void> = { 'stt.completed': vi.fn() };
    const { receiver } = aReceiver({ on });
    on['stt.completed'] = throwing;
    on['stt.failed'] = throwing;
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(inShort(await receiver(aRequest({ event: { type: 'stt.failed' } })))).toBe('200 ignored');
  });

  it('the handlers are never called for a delivery that is not valid', async () => {
    const handler = vi.fn();
    const store = aStore();
    const { receiver, answers } = aReceiver({ on: { '*': handler }, dedupe: { store } });
    const refused: Partial<WebhookRequest>[] = [
      { method: 'GET' },
      { headers: {} },
      { body: 'changed' },
      { body: undefined },
      aRequest({ secret: OTHER }),
      aRequest({ at: NOW - 301_000 }),
      aRequest({ scheme: 'legacy' }),
      aRequest({ body: '{}' }),
      aRequest({ event: { id: 'msg_1' } }),
    ];
    for (const parts of refused)
      expect((await receiver({ ...aRequest(), ...parts })).status).toBeGreaterThanOrEqual(400);
    expect(answers()).toHaveLength(refused.length);
    expect(handler).not.toHaveBeenCalled();
    expect(store.calls).toEqual([]);
  });
});

describe('a version of the payload that the types do not describe', () => {
  it('a version of the payload that the types do not describe goes to the same handler and is noticed', async () => {
    const handler = vi.fn();
    const { receiver, find, notices, answers } = aReceiver({ on: { 'stt.completed': handler } });
    expect(inShort(await receiver(aRequest({ event: { version: '2027-01-01' } })))).toBe('200 handled');
    expect(handler.mock.calls[0]?.[0].version).toBe('2027-01-01');
    expect(find('unknown_version').delivery.event.id).toBe('evt_1');
    expect(notices()).toEqual(['unknown_version']);
    expect(answers()).toEqual(['handled']);
  });

  it('a version of the payload that the types describe is not noticed', async () => {
    const { receiver, notices } = aReceiver();
    await receiver(aRequest());
    expect(notices()).toEqual([]);
  });
});

describe('a receiver never rejects', () => {
  const requests: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['text', 'POST'],
    ['an empty object', {}],
    ['headers that are undefined', { method: 'POST', headers: undefined, body: '' }],
    ['headers that are text', { method: 'POST', headers: 'x', body: '' }],
    [
      'a Proxy for headers that throws on every trap',
      { ...aRequest(), headers: new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing }) },
    ],
    [
      'a header whose getter throws',
      {
        ...aRequest(),
        headers: {
          get 'content-length'() {
            return throwing();
          },
        },
      },
    ],
    [
      'a body whose getter throws',
      {
        ...aRequest(),
        get body() {
          return throwing();
        },
      },
    ],
    [
      'a method whose getter throws',
      {
        ...aRequest(),
        get method() {
          return throwing();
        },
      },
    ],
    [
      'a body that is a Proxy that throws on every trap',
      { ...aRequest(), body: new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing }) },
    ],
    ['a signal that is none', { ...aRequest(), body: new Response('x').body, signal: {} }],
  ];

  it.each(requests)('a receiver never rejects for a request that is or has %s', async (_, request) => {
    for (const way of ['receive', 'begin']) {
      const { receiver, answers } = aReceiver();
      const response =
        way === 'receive'
          ? await receiver(request as WebhookRequest)
          : ((await receiver.begin(request as WebhookRequest)) as { response: Awaited<ReturnType<Receiver>> }).response;
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(JSON.parse(response.body)).toHaveProperty('error.code');
      expect(answers()).toHaveLength(1);
    }
  });

  it('a receiver never rejects for a clock that throws', async () => {
    const { receiver, find } = aReceiver({ now: throwing });
    expect((await receiver(aRequest())).status).toBe(500);
    expect(find('failed').error.cause).toBeInstanceOf(Error);
  });
});

describe('a secret function', () => {
  it('a secret function is asked with the endpoint that the delivery names, and with nothing else', async () => {
    const secret = vi.fn(async () => [SECRET]);
    const { receiver } = aReceiver({ secret });
    expect(inShort(await receiver(aRequest({ headers: { 'X-Service-Webhook-Id': 'wh_1' } })))).toBe('200 handled');
    await receiver(aRequest());
    expect(secret.mock.calls).toEqual([[{ webhookId: 'wh_1' }], [{}]]);
  });

  it('a secret function is asked with nothing where the header came twice', async () => {
    const secret = vi.fn(async () => [SECRET]);
    const request = aRequest();
    await aReceiver({ secret }).receiver({
      ...request,
      headers: { ...request.headers, 'x-service-webhook-id': ['a', 'b'] },
    });
    expect(secret).toHaveBeenCalledWith({});
  });

  it('a secret function may give several secrets, and the delivery says which matched', async () => {
    const { receiver, find } = aReceiver({ secret: async () => [OTHER, SECRET] });
    await receiver(aRequest());
    expect(find('handled').delivery.secretIndex).toBe(1);
  });

  it('a secret function may answer without a promise', async () => {
    const secret = (() => [SECRET]) as unknown as () => Promise<string[]>;
    expect(inShort(await aReceiver({ secret }).receiver(aRequest()))).toBe('200 handled');
  });

  it.each<[string, unknown]>([
    ['an empty list', []],
    ['undefined', undefined],
    ['null', null],
  ])(
    'a secret function that knows no such endpoint and gives %s refuses as any wrong signature',
    async (_, secrets) => {
      const { receiver, find } = aReceiver({ secret: async () => secrets as string[] });
      expect(inShort(await receiver(aRequest()))).toBe('401 signature_mismatch');
      expect(find('rejected').error.message).toContain('0 secrets were tried');
    },
  );

  it.each<[string, unknown]>([
    ['an empty secret', ['']],
    ['a blank secret', ['  ']],
    ['an undefined secret', [undefined]],
    ['a hole', new Array(1)],
    ['empty bytes', [new Uint8Array(0)]],
    ['a number', 42],
    ['an object', {}],
    ['false', false],
    ['an empty text', ''],
  ])('a secret function that gives %s never lets a delivery through', async (_, secrets) => {
    const { receiver, answers, find } = aReceiver({ secret: async () => secrets as string[] });
    expect(inShort(await receiver(aRequest()))).toBe('500 invalid_secret');
    expect(answers()).toEqual(['failed']);
    expect(find('failed').error.message).not.toContain(SECRET);
  });

  it.each<[string, () => unknown]>([
    ['throws', throwing],
    ['rejects', () => Promise.reject(new Error('vault is sealed'))],
    ['rejects with undefined', () => Promise.reject()],
  ])('a secret function that %s fails the delivery with 503, and the service retries', async (_, secret) => {
    const { receiver, find } = aReceiver({ secret: secret as () => Promise<string[]> });
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('503 secret_unavailable');
    expect(response.headers['retry-after']).toBe('30');
    expect(find('failed').error).toMatchObject({ code: 'secret_unavailable', retryable: true });
  });

  it('a secret function that hangs is abandoned at the deadline', async () => {
    vi.useFakeTimers();
    const answer = aReceiver({ secret: never, deadlineMs: 3_000 }).receiver(aRequest());
    await vi.advanceTimersByTimeAsync(3_000);
    expect(inShort(await answer)).toBe('503 secret_unavailable');
  });

  it('a secret function is not asked before the body is there', async () => {
    const secret = vi.fn(async () => [SECRET]);
    await aReceiver({ secret }).receiver({ ...aRequest(), body: undefined });
    expect(secret).not.toHaveBeenCalled();
  });
});

describe('an observer', () => {
  /** Takes every claim, and fails later. */
  const failingStore = aStore({
    claim: async () => ({ status: 'acquired', fence: 1, attempt: 1 }),
    complete: throwing,
    release: throwing,
  });

  const deliveries: [string, Partial<Parameters<typeof aReceiver>[0]>, Parameters<typeof aRequest>[0], string][] = [
    ['handled', {}, {}, '200 handled'],
    ['handled with a status', { on: { '*': () => ({ status: 202 }) } }, {}, '202 handled'],
    ['ignored', { on: {} }, {}, '200 ignored'],
    ['refused', {}, { secret: OTHER }, '401 signature_mismatch'],
    ['failed', { on: { '*': throwing } }, {}, '500 handler_failed'],
    ['of another version', {}, { event: { version: '2020-01-01' } }, '200 handled'],
    ['handled and not recorded', { dedupe: { store: failingStore, name: 'clips' } }, {}, '200 handled'],
    [
      'failed and not released',
      { on: { '*': throwing }, dedupe: { store: failingStore, name: 'clips' } },
      {},
      '500 handler_failed',
    ],
  ];

  const observers: [string, (outcome: object) => unknown][] = [
    ['throws', throwing],
    [
      'throws undefined',
      () => {
        throw undefined;
      },
    ],
    ['rejects', () => Promise.reject(new Error('metrics are down'))],
    ['rejects with undefined', () => Promise.reject()],
    ['never ends', never],
    ['answers a thenable that throws', () => Object.fromEntries([['then', throwing]])],
    ['answers a getter that throws', () => Object.defineProperty({}, 'then', { get: throwing })],
    ['answers a Proxy that throws', () => new Proxy({}, { get: throwing })],
    [
      'empties what it is told',
      (outcome) => {
        for (const name of Object.keys(outcome)) Reflect.deleteProperty(outcome, name);
      },
    ],
    [
      'changes what it is told',
      (outcome) => Object.assign(outcome, { kind: 'in_progress', status: 500, error: null, retryAfterMs: Number.NaN }),
    ],
    ['freezes what it is told', (outcome) => Object.freeze(outcome)],
  ];

  it.each(observers)('an observer that %s never breaks a delivery', async (_, observe) => {
    for (const [what, options, parts, expected] of deliveries) {
      const { receiver } = aReceiver({ ...options, observe: observe as () => void });
      expect(inShort(await receiver(aRequest(parts))), what).toBe(expected);
    }
  });

  it.each(observers)('an observer that %s never breaks a middleware', async (_, observe) => {
    const { receiver } = aReceiver({ observe: observe as () => void });
    const begun = (await receiver.begin(aRequest())) as BegunDelivery;
    expect(inShort(await begun.settle('ok'))).toBe('200 handled');
    expect(inShort(((await receiver.begin(aRequest())) as { response: never }).response)).toBe('200 duplicate');
  });

  it('an observer that rewrites the event it receives does not change which delivery is recorded', async () => {
    const store = aStore();
    const { receiver } = aReceiver({
      dedupe: { store },
      observe: (outcome) => {
        if (outcome.delivery !== undefined) outcome.delivery.event.id = 'evt_redacted';
      },
    });
    await receiver(aRequest({ event: { version: '2020-01-01' } }));
    expect(store.claims.map(({ key }) => key)).toEqual(['default:evt_1']);
  });

  it('an observer receives exactly one decision for each request', async () => {
    const { receiver, answers } = aReceiver();
    await Promise.all([aRequest(), aRequest({ secret: OTHER }), aRequest({ event: { id: 'evt_2' } })].map(receiver));
    await receiver(aRequest());
    expect(answers().sort()).toEqual(['duplicate', 'handled', 'handled', 'rejected']);
  });
});

const begin = async (receiver: Receiver, request = aRequest()) => (await receiver.begin(request)) as BegunDelivery;

describe('begin', () => {
  const refusedBy = async (receiver: Receiver, request = aRequest()) => {
    const begun = await receiver.begin(request);
    if (!('response' in begun)) throw new Error('the delivery was handed over');
    return inShort(begun.response);
  };

  it('begin returns a delivery that is verified and claimed', async () => {
    const store = aStore();
    const { receiver, answers } = aReceiver({ dedupe: { store } });
    const { delivery, context } = await begin(receiver);
    expect(delivery.event.id).toBe('evt_1');
    expect(context).toMatchObject({ attempt: 1, delivery });
    expect(context.signal.aborted).toBe(false);
    expect(store.calls).toEqual(['claim']);
    expect(answers()).toEqual([]);
  });

  it('begin returns every type of event, also one without a handler', async () => {
    const { receiver } = aReceiver({ on: {} });
    expect((await begin(receiver, aRequest({ event: { type: 'video.completed' } }))).delivery.event.type).toBe(
      'video.completed',
    );
  });

  it('begin gives the answer to what is refused, and its observer has it too', async () => {
    const { receiver, answers } = aReceiver();
    expect(await refusedBy(receiver, aRequest({ secret: OTHER }))).toBe('401 signature_mismatch');
    expect(await refusedBy(receiver, { ...aRequest(), method: 'GET' })).toBe('405 method_not_allowed');
    expect(answers()).toEqual(['rejected', 'rejected']);
  });

  it('begin gives the answer to a delivery that is in progress or done', async () => {
    const { receiver } = aReceiver();
    const first = await begin(receiver);
    expect(await refusedBy(receiver)).toBe('409 delivery_in_progress');
    await first.settle('ok');
    expect(await refusedBy(receiver)).toBe('200 duplicate');
  });

  it("settled as 'ok' completes the claim", async () => {
    const store = aStore();
    const { receiver, answers, find } = aReceiver({ dedupe: { store } });
    const { settle } = await begin(receiver);
    expect(inShort(await settle('ok'))).toBe('200 handled');
    expect(find('handled')).toMatchObject({ attempt: 1, status: 200, delivery: { event: { id: 'evt_1' } } });
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'complete']);
  });

  it("settled as 'failed' releases it, with the error as the cause", async () => {
    const store = aStore();
    const { receiver, find } = aReceiver({ dedupe: { store } });
    const cause = new Error('no disk');
    expect(inShort(await (await begin(receiver)).settle('failed', cause))).toBe('500 handler_failed');
    expect(find('failed').error.cause).toBe(cause);
    expect(store.calls).toEqual(['claim', 'release']);
    expect((await begin(receiver)).context).toMatchObject({ attempt: 2 });
  });

  it("settled as 'failed' by a PermanentError completes it", async () => {
    const { receiver, answers } = aReceiver();
    expect(inShort(await (await begin(receiver)).settle('failed', new PermanentError('no such clip')))).toBe(
      '200 discarded',
    );
    expect(await refusedBy(receiver)).toBe('200 duplicate');
    expect(answers()).toEqual(['discarded', 'duplicate']);
  });

  it("settled as 'unknown' leaves the claim to its lease", async () => {
    vi.useFakeTimers();
    const store = aStore();
    const { receiver, answers, find } = aReceiver({ dedupe: { store } });
    expect(inShort(await (await begin(receiver)).settle('unknown'))).toBe('500 handler_failed');
    expect(find('failed').error.message).toContain('connection closed');
    expect(store.calls).toEqual(['claim']);
    await vi.advanceTimersByTimeAsync(24_999);
    expect(await refusedBy(receiver)).toBe('409 delivery_in_progress');
    await vi.advanceTimersByTimeAsync(1);
    expect((await begin(receiver)).context).toMatchObject({ attempt: 2 });
    expect(answers()).toEqual(['failed', 'in_progress']);
    expect(store.calls).not.toContain('extend');
  });

  it('settled twice counts once, also while the first is still on its way', async () => {
    const store = aStore();
    const { receiver, answers } = aReceiver({ dedupe: { store } });
    const { settle } = await begin(receiver);
    const [first, second] = await Promise.all([settle('ok'), settle('failed', new Error('late'))]);
    const third = await settle('unknown');
    expect([first, second, third].map(inShort)).toEqual(['200 handled', '200 handled', '200 handled']);
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'complete']);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a Proxy that throws', new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing })],
    ['a frozen error', Object.freeze(new Error('frozen'))],
  ])('settled as failed by %s does not reject', async (_, error) => {
    const { receiver, find } = aReceiver();
    expect(inShort(await (await begin(receiver)).settle('failed', error))).toBe('500 handler_failed');
    expect(find('failed').error.cause === error).toBe(true);
  });

  it('settled does not reject where the store is gone', async () => {
    const gone = async () => Promise.reject(new Error('ECONNRESET'));
    for (const [ended, expected] of [
      ['ok', '200 handled'],
      ['failed', '500 handler_failed'],
    ] as const) {
      const { receiver, find } = aReceiver({ dedupe: { store: aStore({ complete: gone, release: gone }) } });
      expect(inShort(await (await begin(receiver)).settle(ended))).toBe(expected);
      expect(find('store_error').operation).toBe(ended === 'ok' ? 'complete' : 'release');
    }
  });

  it('begin works without dedupe', async () => {
    const { receiver } = aReceiver({ dedupe: false });
    for (let i = 0; i < 2; i++) {
      const { context, settle } = await begin(receiver);
      expect(context).toMatchObject({ attempt: 1, fence: 0 });
      expect(inShort(await settle('ok'))).toBe('200 handled');
    }
  });

  it('begin never rejects where a store fails to claim', async () => {
    const { receiver } = aReceiver({ dedupe: { store: aStore({ claim: throwing }) } });
    expect(await refusedBy(receiver)).toBe('503 store_unavailable');
  });

  describe('in time', () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });

    it('begin aborts the signal at the deadline, and gives no answer of its own', async () => {
      const { receiver, answers } = aReceiver();
      const { context, settle } = await begin(receiver);
      await vi.advanceTimersByTimeAsync(14_999);
      expect(context.signal.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(context.signal.aborted).toBe(true);
      expect(answers()).toEqual([]);
      expect(inShort(await settle('ok'))).toBe('200 handled');
      expect(await refusedBy(receiver)).toBe('200 duplicate');
    });

    it('begin does not abort the signal of what was settled in time', async () => {
      const { receiver } = aReceiver();
      const { context, settle } = await begin(receiver);
      await settle('ok');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(context.signal.aborted).toBe(false);
    });

    it('begin keeps the claim alive until it is settled', async () => {
      const { receiver } = aReceiver();
      const { settle } = await begin(receiver);
      await vi.advanceTimersByTimeAsync(120_000);
      expect(await refusedBy(receiver)).toBe('409 delivery_in_progress');
      await settle('failed');
      expect((await begin(receiver)).context.attempt).toBe(2);
    });
  });
});

describe('the clock of an option', () => {
  it('the clock of an option is asked once for a delivery, to verify it', async () => {
    const clock = vi.fn(now);
    await aReceiver({ now: clock }).receiver(aRequest());
    expect(clock).toHaveBeenCalledOnce();
  });
});

describe('the process', () => {
  it('the process stays for a sender that waits for an answer, by one timer, which goes with the answer', async () => {
    const { mock: set } = vi.spyOn(globalThis, 'setTimeout');
    const { mock: cleared } = vi.spyOn(globalThis, 'clearTimeout');
    const begun = later();
    const on = {
      '*': () => {
        begun.resolve();
        return never();
      },
    };
    const answer = aReceiver({ on, deadlineMs: 1_000 }).receiver(aRequest());
    await begun.promise;
    const keeping = set.results.map(({ value }) => value).filter((timer) => timer.hasRef());
    expect(keeping).toHaveLength(1);
    expect(inShort(await answer)).toBe('503 handler_timeout');
    expect(cleared.calls.map(([timer]) => timer)).toContain(keeping[0]);
  });

  it('the process stays for a middleware until it has reported how its response ended', async () => {
    const { mock: set } = vi.spyOn(globalThis, 'setTimeout');
    const { mock: cleared } = vi.spyOn(globalThis, 'clearTimeout');
    const { settle } = await begin(aReceiver().receiver);
    const keeping = set.results.map(({ value }) => value).filter((timer) => timer.hasRef());
    expect(keeping).toHaveLength(1);
    const isKept = () => !cleared.calls.some(([timer]) => timer === keeping[0]);
    expect(isKept()).toBe(true);
    await settle('failed');
    expect(isKept()).toBe(false);
  });

  it('the process is free to end once there is an answer, whatever is still waited for', async () => {
    const set = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')];
    const clear = [vi.spyOn(globalThis, 'clearTimeout'), vi.spyOn(globalThis, 'clearInterval')];
    const { receiver } = aReceiver({
      on: { '*': ({ id }) => (id === 'evt_2' ? never() : undefined) },
      dedupe: { store: aStore({ complete: () => Promise.reject(new Error('gone')) }) },
      deadlineMs: 50,
    });
    const silent = { [Symbol.asyncIterator]: () => ({ next: never }) };
    await receiver({ ...aRequest(), headers: {}, body: silent }); // drains
    await receiver(aRequest()); // completes again later
    await receiver(aRequest({ event: { id: 'evt_2' } })); // keeps its claim alive
    const cleared = new Set(clear.flatMap(({ mock }) => mock.calls.map(([timer]) => timer)));
    const waiting = set
      .flatMap(({ mock }) => mock.results.map(({ value }) => value))
      .filter((timer) => !cleared.has(timer));
    // What is drained, what is recorded later, what is kept alive; other tests of this process may add theirs.
    expect(waiting.length).toBeGreaterThanOrEqual(3);
    for (const timer of waiting) expect(timer.hasRef()).toBe(false);
  });
});

describe('two receivers', () => {
  it('two receivers without a store of their own share nothing', async () => {
    const [first, second] = [aReceiver(), aReceiver()];
    expect(inShort(await first.receiver(aRequest()))).toBe('200 handled');
    expect(inShort(await second.receiver(aRequest()))).toBe('200 handled');
  });
});

describe('deliveries at the same time', () => {
  it('deliveries at the same time are each handled once, whatever the order of their ends', async () => {
    const ends = [later(), later(), later()];
    const handled: HandlerContext[] = [];
    const on = {
      '*': async (_: unknown, context: HandlerContext) => {
        handled.push(context);
        await ends[handled.length - 1]?.promise;
      },
    };
    const { receiver } = aReceiver({ on });
    const answers = ends.map((_, i) => receiver(aRequest({ event: { id: `evt_${i}` } })).then(inShort));
    await vi.waitFor(() => expect(handled).toHaveLength(3), PATIENTLY);
    for (const end of ends.reverse()) end.resolve();
    expect(await Promise.all(answers)).toEqual(['200 handled', '200 handled', '200 handled']);
    expect(new Set(handled.map(({ delivery }) => delivery.event.id)).size).toBe(3);
  });
});
