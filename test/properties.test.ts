import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import {
  type ClaimRequest,
  createReceiver,
  type DedupeStore,
  type HeaderSource,
  isWebhookError,
  isWebhookEvent,
  type Mutation,
  memoryStore,
  parseEvent,
  sign,
  type VerifyInput,
  verify,
  verifyAsync,
  verifySignature,
  WebhookError,
  type WebhookErrorCode,
} from 'service-webhooks';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, inShort, NOW, now, SECRET, verdict } from './support/deliveries.js';

/*
 * PROPERTY_RUNS sets how often each property is tried. fast-check prints the seed of a failure; PROPERTY_SEED repeats it.
 */
const { PROPERTY_RUNS, PROPERTY_SEED } = process.env;
const numRuns = Number(PROPERTY_RUNS ?? 2_000);
const options = { numRuns, ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }) };
const timeout = Math.max(60_000, numRuns * 10);

const holds = <Values extends [unknown, ...unknown[]]>(
  arbitraries: { [I in keyof Values]: fc.Arbitrary<Values[I]> },
  property: (...values: Values) => Promise<unknown> | unknown,
) =>
  fc.assert(
    fc.asyncProperty(...(arbitraries as [fc.Arbitrary<unknown>]), async (...values: unknown[]) => {
      await property(...(values as Values));
    }),
    options,
  );

const bytes = () => fc.uint8Array({ maxLength: 300 });
const secretText = () =>
  fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }).filter((text) => text.trim() === text && text !== '');
const secrets = () => fc.oneof(secretText(), fc.uint8Array({ minLength: 1, maxLength: 150 }));
const skews = () => fc.integer({ min: -300, max: 300 });
const ids = () => fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => `evt_${text}`);

const events = () =>
  fc.record({
    id: ids(),
    type: fc.string({ minLength: 1 }),
    version: fc.constantFrom('2026-07-11', '2028-02-29'),
    jobId: fc.option(fc.string()),
    data: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
    timestamp: fc
      .date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString()),
  });

/** Header values: from what the grammar knows, from noise, and from both. */
const elements = () =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(`t=${T}`) },
    fc.integer().map((n) => `t=${n}`),
    fc.double().map((n) => `t=${n}`),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }).map((hex) => `v1=${hex}`),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 70 }).map((hex) => `v1=${hex}`),
    fc.constantFrom(
      '',
      '=',
      'v1',
      'v1=',
      't',
      't=',
      ' ',
      'v2=x',
      '\0',
      'sha256=',
      `v1=${GOOD}`,
      `v1=${GOOD.toUpperCase()}`,
    ),
    fc.string({ unit: 'binary' }),
  );
const headerValues = () =>
  fc.oneof(
    fc.array(elements(), { maxLength: 40 }).map((list) => list.join(',')),
    fc
      .tuple(fc.array(elements(), { maxLength: 6 }), fc.constantFrom(',', ', ', ';', '\n'))
      .map(([list, by]) => list.join(by)),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'binary', maxLength: 10 }).map((text) => text.repeat(6_554)),
    fc.array(fc.string({ unit: 'binary' })),
    fc.constantFrom(undefined, null, 7, true, {}, Symbol('x')),
  );

const T = String(NOW / 1000);
const BODY = bodyOf();
const macOf = (secret: string | Uint8Array, ...content: (string | Uint8Array)[]) => {
  const hmac = createHmac('sha256', secret);
  for (const part of content) hmac.update(part);
  return hmac.digest('hex');
};
const GOOD = macOf(SECRET, `${T}.`, BODY);

/** Headers as they may come over the network: right, wrong and odd. */
const headers = (): fc.Arbitrary<HeaderSource> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .constantFrom('v2', 'legacy', 'both')
        .map((scheme) => sign({ body: BODY, secret: SECRET, at: NOW, scheme: scheme as 'both' })),
    },
    headerValues().map((value) => ({ 'x-service-signature-v2': value })),
    headerValues().map((value) => ({
      ...sign({ body: BODY, secret: SECRET, at: NOW, scheme: 'legacy' }),
      'x-service-signature-v2': value,
    })),
    headerValues().map((value) => ({ 'x-service-signature': value })),
    fc.dictionary(fc.string(), fc.string()),
    fc.array(
      fc.tuple(
        fc.constantFrom('x-service-signature-v2', 'X-Service-Signature-V2', 'x'),
        fc.constant(`t=${T},v1=${GOOD}`),
      ),
      { maxLength: 3 },
    ),
  ) as fc.Arbitrary<HeaderSource>;

/** Everything a caller may pass, right and wrong, with a good chance of being right. */
const inputs = (): fc.Arbitrary<VerifyInput> =>
  fc
    .record({
      headers: fc.oneof({ weight: 9, arbitrary: headers() }, fc.constantFrom(undefined, null, 'x', [])),
      body: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(BODY, new TextEncoder().encode(BODY)) },
        bytes(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom(undefined, null, {}, 7),
      ),
      secret: fc.oneof(
        {
          weight: 3,
          arbitrary: fc.constantFrom(SECRET, [SECRET], ['other', SECRET], new TextEncoder().encode(SECRET)),
        },
        secrets(),
        fc.constantFrom(undefined, null, '', ' ', [], [''], 7),
      ),
      legacy: fc.constantFrom(undefined, 'reject', 'accept', true),
      toleranceSeconds: fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        fc.double(),
        fc.integer({ min: 1, max: 1000 }),
      ),
      now: fc.oneof(
        { weight: 3, arbitrary: fc.constant(NOW) },
        fc.double(),
        fc.integer({ min: NOW - 400_000, max: NOW + 400_000 }),
      ),
    })
    .map(({ now: time, ...rest }) => ({ ...rest, now: () => time }) as unknown as VerifyInput);

describe('signature', () => {
  it('of any bytes by any secret at any time within the tolerance is accepted', { timeout }, () =>
    holds([bytes(), secrets(), skews(), fc.constantFrom('v2', 'both')], (body, secret, skew, scheme) => {
      const headers = sign({ body, secret, at: NOW + skew * 1000, scheme });
      expect(verifySignature({ headers, body, secret, now })).toEqual({
        scheme: 'v2',
        signedAt: NOW + skew * 1000,
        secretIndex: 0,
      });
    }),
  );

  it('is that of an independent HMAC over the text of t, a dot and the body', { timeout }, () =>
    holds([bytes(), secrets(), skews()], (body, secret, skew) => {
      const t = String(NOW / 1000 + skew);
      const headers = { 'x-service-signature-v2': `t=${t},v1=${macOf(secret, `${t}.`, body)}` };
      expect(verifySignature({ headers, body, secret, now }).scheme).toBe('v2');
      const legacy = { 'x-service-signature': `sha256=${macOf(secret, body)}` };
      expect(verifySignature({ headers: legacy, body, secret, now, legacy: 'accept' }).scheme).toBe('legacy');
    }),
  );

  it('with one bit of the body flipped is refused', { timeout }, () =>
    holds(
      [fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), fc.constantFrom('v2', 'legacy')],
      (body, at, scheme) => {
        const headers = sign({ body, secret: SECRET, at: NOW, scheme });
        const bit = at % (body.length * 8);
        const flipped = Uint8Array.from(body);
        flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
        return expectRefused({ headers, body: flipped, secret: SECRET, now, legacy: 'accept' });
      },
    ),
  );

  it('with one bit of its own text flipped is refused', { timeout }, () =>
    holds([fc.nat()], (at) => {
      const [name, value] = Object.entries(sign({ body: BODY, secret: SECRET, at: NOW, scheme: 'v2' }))[0] as [
        string,
        string,
      ];
      const bit = at % (value.length * 8);
      const code = value.charCodeAt(bit >> 3) ^ (1 << (bit & 7));
      const flipped = value.slice(0, bit >> 3) + String.fromCharCode(code) + value.slice((bit >> 3) + 1);
      return expectRefused({
        headers: { [name]: flipped },
        body: BODY,
        secret: SECRET,
        now: () => Number(/\d+/.exec(flipped)?.[0] ?? 0) * 1000,
      });
    }),
  );

  it('by another secret is refused', { timeout }, () =>
    holds([secrets(), secrets(), bytes()], (secret, other, body) => {
      fc.pre(!Buffer.from(secret).equals(Buffer.from(other)));
      return expectRefused({ headers: sign({ body, secret, at: NOW }), body, secret: other, now, legacy: 'accept' });
    }),
  );

  it('outside the tolerance is refused, whatever the tolerance', { timeout }, () =>
    holds(
      [fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: -20_000, max: 20_000 })],
      async (toleranceSeconds, skew) => {
        const headers = sign({ body: BODY, secret: SECRET, at: NOW + skew * 1000, scheme: 'v2' });
        const found = await verdict(() => verify({ headers, body: BODY, secret: SECRET, now, toleranceSeconds }));
        const expected =
          skew > toleranceSeconds ? 'timestamp_in_future' : skew < -toleranceSeconds ? 'timestamp_too_old' : 'v2';
        expect(found).toBe(expected);
      },
    ),
  );
});

async function expectRefused(input: VerifyInput): Promise<void> {
  const code = await verdict(() => verifySignature(input));
  expect(code).toMatch(
    /^(signature_mismatch|malformed_signature|timestamp_in_future|timestamp_too_old|missing_signature)$/,
  );
  expect(await verdict(() => verifyAsync(input))).toBe(code);
}

describe('verify', () => {
  it('throws nothing but WebhookErrors, whatever the header and the body', { timeout }, () =>
    holds([headerValues(), headerValues(), bytes()], (v2, legacy, body) => {
      const headers = { 'x-service-signature-v2': v2, 'x-service-signature': legacy } as VerifyInput['headers'];
      const calls = [verify, verifySignature].map(
        (f) => () => f({ headers, body, secret: SECRET, now, legacy: 'accept' }),
      );
      for (const call of calls) expectOnlyWebhookErrors(call);
    }),
  );

  it('and verifyAsync agree on everything, verdict, code and message', { timeout }, () =>
    holds([inputs()], async (input) => {
      const sync = await outcomeOf(async () => verify(input));
      expect(await outcomeOf(() => verifyAsync(input))).toEqual(sync);
    }),
  );

  it('agrees with verifySignature as far as that goes', { timeout }, () =>
    holds([inputs()], async (input) => {
      const code = await verdict(() => verify(input));
      const signature = await verdict(() => verifySignature(input));
      const envelope = ['invalid_encoding', 'invalid_json', 'invalid_envelope'].includes(code);
      const tooOld = code === 'timestamp_too_old' && signature === 'legacy';
      if (!envelope && !tooOld) expect(signature).toBe(code);
      else expect(['v2', 'legacy']).toContain(signature);
    }),
  );

  it('accepts only what JSON.parse reads as the event, and what begins with the t of the header', { timeout }, () =>
    holds([events(), skews()], (event, skew) => {
      const body = JSON.stringify(event);
      const t = NOW / 1000 + skew;
      const headers = { 'x-service-signature-v2': `t=${t},v1=${macOf(SECRET, `${t}.${body}`)}` };
      const delivery = verify({ headers, body, secret: SECRET, now });
      expect(delivery.event).toEqual(JSON.parse(body));
      expect(delivery.signedAt).toBe(t * 1000);
      expect(Buffer.from(delivery.body).toString()).toBe(body);
    }),
  );

  it('says the same of text and of its bytes', { timeout }, () =>
    holds(
      [
        fc.oneof(
          events().map((event) => JSON.stringify(event)),
          fc.string({ unit: 'grapheme' }),
          fc.json(),
        ),
      ],
      async (text) => {
        const encoded = new TextEncoder().encode(text);
        const headers = sign({ body: text, secret: SECRET, at: NOW });
        const [first, ...others] = await Promise.all(
          [text, encoded, Buffer.from(encoded), encoded.buffer].map((body) =>
            verdict(() => verify({ headers, body, secret: SECRET, now })),
          ),
        );
        expect(others).toEqual(Array(3).fill(first));
      },
    ),
  );
});

function expectOnlyWebhookErrors(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    expect(isWebhookError(error), String(error)).toBe(true);
  }
}

async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { accepted: await call() };
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

describe('verifyAsync on WebCrypto alone', () => {
  let web: typeof import('../src/index.js');

  beforeAll(async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    vi.resetModules();
    web = await import('../src/index.js');
    vi.resetModules();
  });

  it('says what verify says on node:crypto', { timeout }, () =>
    holds([inputs()], async (input) => {
      const sync = await outcomeOf(async () => verify(input));
      expect(await outcomeOf(() => web.verifyAsync(input))).toEqual(sync);
    }),
  );
});

describe('the guard', () => {
  it('is total: true or false for any value, and parseEvent agrees', { timeout }, () =>
    holds(
      [
        fc.oneof(
          fc.jsonValue(),
          events(),
          events().chain((event) => fc.subarray(Object.entries(event)).map(Object.fromEntries)),
        ),
      ],
      async (value) => {
        const text = JSON.stringify(value);
        const accepted = isWebhookEvent(JSON.parse(text));
        const parsed = await outcomeOf(async () => parseEvent(text));
        expect(parsed).toHaveProperty(accepted ? 'accepted' : 'code');
      },
    ),
  );

  it('is total for bytes of any kind', { timeout }, () =>
    holds([bytes()], (body) => expectOnlyWebhookErrors(() => parseEvent(body))),
  );

  it('accepts no day that the calendar has not', { timeout }, () =>
    holds(
      [fc.integer({ min: 1900, max: 2100 }), fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 })],
      (year, month, day) => {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        const date = new Date(Date.UTC(year, month - 1, day));
        const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
        expect(isWebhookEvent(JSON.parse(bodyOf({ version: text })))).toBe(exists);
        expect(isWebhookEvent(JSON.parse(bodyOf({ timestamp: `${text}T10:00:00Z` })))).toBe(exists);
      },
    ),
  );
});

describe('a receiver', () => {
  const receiver = createReceiver({ secret: SECRET, now, dedupe: false, on: { '*': () => {} }, maxBodyBytes: 500 });

  it('answers the same however a body is split into chunks', { timeout }, () =>
    holds(
      [
        fc.oneof(
          events().map((event) => JSON.stringify(event)),
          fc.string(),
        ),
        fc.array(fc.nat(), { maxLength: 10 }),
      ],
      async (body, cuts) => {
        const request = { method: 'POST', headers: sign({ body, secret: SECRET, at: NOW }) };
        const all = new TextEncoder().encode(body);
        const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
        async function* chunks() {
          for (const [i, place] of places.entries()) yield all.subarray(place, places[i + 1] ?? all.length);
        }
        expect(await receiver({ ...request, body: chunks() })).toEqual(await receiver({ ...request, body: all }));
      },
    ),
  );

  it('refuses what verify refuses, with the status of the error, and handles the rest', { timeout }, () =>
    holds([headers(), fc.oneof(fc.constant(BODY), bytes(), fc.string({ unit: 'binary' }))], async (sent, body) => {
      const input = { headers: sent, secret: SECRET, now, legacy: 'accept' } as const;
      const lenient = createReceiver({ ...input, dedupe: false, on: { '*': () => {} } });
      const answer = inShort(await lenient({ method: 'POST', headers: sent, body }));
      const found = await outcomeOf(async () => verify({ ...input, body }));
      const code = (found as { code?: WebhookErrorCode }).code;
      expect(answer).toBe(code === undefined ? '200 handled' : `${new WebhookError(code, '').status} ${code}`);
    }),
  );
});

describe('the memory store', () => {
  type Step =
    | { do: 'claim' | 'complete' | 'release' | 'extend'; token: string; key: string }
    | { do: 'wait'; ms: number }
    | { do: 'forget'; key: string };

  const LEASE = 1_000;
  const RETAIN = 5_000;

  const steps = (): fc.Arbitrary<Step[]> =>
    fc.array(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            do: fc.constantFrom(
              'claim' as const,
              'claim' as const,
              'complete' as const,
              'release' as const,
              'extend' as const,
            ),
            token: fc.constantFrom('A', 'B', 'C'),
            key: fc.constantFrom('k:1', 'k:2'),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 1_000, 4_999, 5_000) }),
        },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), key: fc.constantFrom('k:1', 'k:2') }) },
      ),
      { maxLength: 40 },
    );

  /** The rules of the contract, as plainly as they can be written. */
  function aModel(clock: () => number) {
    type Row = {
      state: 'in_progress' | 'completed' | 'released';
      owner: string;
      fence: number;
      attempt: number;
      lease: number;
      expires: number;
    };
    const rows = new Map<string, Row>();
    const live = (key: string) => {
      const row = rows.get(key);
      return row !== undefined && row.expires > clock() ? row : undefined;
    };
    const owned = (key: string, token: string) => {
      const row = live(key);
      return row?.state === 'in_progress' && row.owner === token ? row : undefined;
    };
    return {
      claim(key: string, token: string): unknown {
        const row = live(key);
        if (row?.state === 'completed') return { status: 'completed', fence: row.fence };
        if (row?.state === 'in_progress' && row.owner !== token && row.lease > clock()) {
          return { status: 'in_progress', fence: row.fence, retryAfterMs: row.lease - clock() };
        }
        const same = row?.state === 'in_progress' && row.owner === token;
        const fence = (row?.fence ?? 0) + (same ? 0 : 1);
        const attempt = (row?.attempt ?? 0) + (same ? 0 : 1);
        rows.set(key, {
          state: 'in_progress',
          owner: token,
          fence,
          attempt,
          lease: clock() + LEASE,
          expires: clock() + RETAIN,
        });
        return { status: 'acquired', fence, attempt };
      },
      complete(key: string, token: string): Mutation {
        const row = live(key);
        if (row !== undefined && (row.owner !== token || row.state === 'released')) return 'lost';
        const { fence, attempt } = row ?? { fence: 1, attempt: 1 };
        rows.set(key, { state: 'completed', owner: token, fence, attempt, lease: 0, expires: clock() + RETAIN });
        return 'ok';
      },
      release(key: string, token: string): Mutation {
        const row = live(key);
        if (row === undefined || row.state === 'released') return 'ok';
        const mine = owned(key, token);
        if (mine === undefined) return 'lost';
        rows.set(key, { ...mine, state: 'released', owner: '' });
        return 'ok';
      },
      extend(key: string, token: string): Mutation {
        const mine = owned(key, token);
        if (mine === undefined) return 'lost';
        mine.lease = clock() + LEASE;
        return 'ok';
      },
      forget: (key: string) => void rows.delete(key),
    };
  }

  async function applyTo(store: DedupeStore, step: Exclude<Step, { do: 'wait' }>): Promise<unknown> {
    if (step.do === 'forget') return store.forget?.(step.key);
    const { key, token } = step;
    const request: ClaimRequest = { key, token, fingerprint: 'f', leaseMs: LEASE, retainMs: RETAIN };
    const ref = { ...request, fence: 1 };
    if (step.do === 'complete') return store.complete(ref, { retainMs: RETAIN });
    if (step.do === 'release') return store.release(ref);
    if (step.do === 'extend') return store.extend(ref, { leaseMs: LEASE });
    const { seen: _, ...result } = await store.claim(request);
    return result;
  }

  it('does what the contract says in every order of calls', { timeout }, () =>
    holds([steps()], async (list) => {
      let time = 0;
      const store = memoryStore({ now: () => time });
      const model = aModel(() => time);
      for (const step of list) {
        if (step.do === 'wait') time += step.ms;
        else if (step.do === 'forget') expect(await applyTo(store, step)).toBe(model.forget(step.key));
        else expect(await applyTo(store, step)).toEqual(model[step.do](step.key, step.token));
      }
    }),
  );

  it('never has two owners, and never gives a completed key away', { timeout }, () =>
    holds([steps()], async (list) => {
      let time = 1;
      const store = memoryStore({ now: () => time });
      const owners = new Map<string, { token: string; until: number; expires: number }>();
      const done = new Map<string, number>();
      for (const step of list) {
        if (step.do === 'wait') {
          time += step.ms;
          continue;
        }
        const result = await applyTo(store, step);
        if (step.do === 'forget') {
          owners.delete(step.key);
          done.delete(step.key);
        } else if (step.do === 'claim' && (result as { status: string }).status === 'acquired') {
          const owner = owners.get(step.key);
          const over = owner === undefined || owner.until <= time || owner.expires <= time;
          expect(over || owner.token === step.token).toBe(true);
          expect(done.get(step.key) ?? 0).toBeLessThanOrEqual(time);
          owners.set(step.key, { token: step.token, until: time + LEASE, expires: time + RETAIN });
        } else if (result === 'ok') {
          if (step.do === 'extend') Object.assign(owners.get(step.key) ?? {}, { until: time + LEASE });
          if (step.do === 'release' && owners.get(step.key)?.token === step.token) owners.delete(step.key);
          if (step.do === 'complete') {
            owners.delete(step.key);
            done.set(step.key, time + RETAIN);
          }
        }
      }
    }),
  );
});
