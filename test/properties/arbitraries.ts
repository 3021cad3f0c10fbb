import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { type HeaderSource, sign, type VerifyInput, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { bodyOf, NOW, SECRET } from '../support/deliveries.js';

/** One of several arbitraries that comes more often than the others. */
export const often = <T>(arbitrary: fc.Arbitrary<T>, weight = 6) => ({ weight, arbitrary });

export const bytes = () => fc.uint8Array({ maxLength: 300 });
/** Any text and bytes, with ends that no check of a secret objects to. */
export const secrets = () =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }).map((text) => `s${text}t`),
    fc.uint8Array({ maxLength: 150 }).map((bytes) => Uint8Array.of(0xff, ...bytes, 0xff)),
  );
export const skews = () => fc.integer({ min: -300, max: 300 });
const ids = () => fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => `evt_${text}`);

export const events = () =>
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

/** The bodies of these events. */
export const bodies = () => events().map((event) => JSON.stringify(event));

const pieces = (...words: string[]) =>
  fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join(''));
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
const padded = (max: number) => fc.nat(max).map((number) => String(number).padStart(2, '0'));
/** Right ones, wrong ones, and days that some years have. */
const days = fc
  .tuple(fc.constantFrom('1900', '2026', '2028', '2100', '2000', '0000', '99999'), padded(14), padded(33))
  .map((parts) => parts.join('-'));
const clocks = joined(
  fc.constantFrom('T', 'T', 'T', 't', ' '),
  fc.constantFrom('12:00', '23:59', '24:00', '12:60', '1:00'),
  fc.constantFrom('', ':00', ':59', ':60', ':00.1', ':00.', ':00,5', ':00.123456'),
  fc.constantFrom('', 'Z', 'z', '+14:00', '+05:30', '-23:59', '+24:00', '+1:00', '+01:60', '+0530'),
);
const instants = fc.oneof(
  days,
  clocks.map((clock) => `2026-07-11${clock}`),
  joined(days, clocks),
  pieces('2026-07-11', 'T', '12:00', ':00', '.0', 'Z', '+01:00', '\n'),
);
const anything = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    ...['', 'evt_', 'evt_\n', 'evt_1', 'evt_\u{1f600}', ' evt_1', 'EVT_1', '__proto__'],
    [],
    {},
    undefined,
  ),
);
const FIELDS = {
  id: anything,
  type: fc.oneof(anything, fc.constantFrom(...WEBHOOK_EVENT_TYPES)),
  version: fc.oneof(
    days,
    anything,
    pieces('2028', '2100', '0000', '-', '-02', '-29', '-30', '-31', '-12', '04', '1', '٣'),
  ),
  jobId: anything,
  data: anything,
  timestamp: fc.oneof(instants, anything),
  more: anything,
};
/** Other values for fields of an event, mostly for one at a time: the first faulty field decides what is found. */
export const changes = (): fc.Arbitrary<Record<string, unknown>> =>
  fc.oneof(
    fc.record(FIELDS, { requiredKeys: [] }),
    ...Object.entries<fc.Arbitrary<unknown>>(FIELDS).map(([name, value]) => value.map((one) => ({ [name]: one }))),
    often(instants.map((timestamp) => ({ timestamp }))),
  );

/** Header values: from what the grammar knows, from noise, and from both. */
const elements = () =>
  fc.oneof(
    often(fc.constant(`t=${T}`), 4),
    fc.integer().map((n) => `t=${n}`),
    fc.double().map((n) => `t=${n}`),
    hexDigits({ minLength: 64, maxLength: 64 }),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 70 }).map((hex) => `v1=${hex}`),
    fc.constantFrom('', '=', 'v1', 'v1=', 't', 't=', ' ', 'v2=x', '\0', 'sha256='),
    fc.constantFrom(`v1=${GOOD}`, `v1=${GOOD.toUpperCase()}`),
    fc.string({ unit: 'binary' }),
  );
export const headerValues = () =>
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

export const T = String(NOW / 1000);
export const BODY = bodyOf();
export const macOf = (secret: string | Uint8Array, ...content: (string | Uint8Array)[]) => {
  const hmac = createHmac('sha256', secret);
  for (const part of content) hmac.update(part);
  return hmac.digest('hex');
};
const GOOD = macOf(SECRET, `${T}.`, BODY);

/**
 * V2 headers made of what a right one holds, at the edges of the tolerance, now and then with a few characters changed:
 * about half of them hold, and most others are one step away from it.
 */
export const nearlyGoodHeaders = () =>
  fc
    .record({
      t: fc.constantFrom(-301, -300, -1, 0, 300, 301).map((skew) => String(NOW / 1000 + skew)),
      before: fc.array(others(), { maxLength: 6 }),
      after: fc.oneof(
        fc.array(fc.constant('v2=x'), { minLength: 20, maxLength: 32 }),
        often(fc.array(others(), { maxLength: 5 }), 9),
      ),
      by: fc.oneof(fc.constantFrom(', ', ';', ',,'), often(fc.constant(','), 9)),
      edits: fc.oneof(fc.array(edits(), { minLength: 1, maxLength: 2 }), often(fc.constant<Edit[]>([]), 9)),
    })
    .map(({ t, before, after, by, edits }) =>
      edits.reduce<string>(
        (text, [at, removed, added]) => {
          const place = at % (text.length + 1);
          return text.slice(0, place) + added + text.slice(place + removed);
        },
        [...before, `t=${t}`, `v1=${macOf(SECRET, `${t}.`, BODY)}`, ...after].join(by),
      ),
    );

const hexDigits = (length: fc.StringConstraints) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), ...length }).map((hex) => `v1=${hex}`);
const others = () =>
  fc.oneof(
    elements(),
    often(hexDigits({ minLength: 63, maxLength: 65 }), 9),
    often(fc.constantFrom('v2=x', 'v0=', '=', 'T=1', 'v11=x', 'x=t=1'), 9),
  );
type Edit = [at: number, removed: number, added: string];
const edits = (): fc.Arbitrary<Edit> =>
  fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.constantFrom('', ...',=tv10 9afAF\t\0é'));

const signedBy = (scheme: 'v2' | 'legacy' | 'both') => sign({ body: BODY, secret: SECRET, at: NOW, scheme });

/** Headers as they may come over the network: right, wrong and odd. */
export const headers = (): fc.Arbitrary<HeaderSource> =>
  fc.oneof(
    often(fc.constantFrom('v2', 'legacy', 'both').map(signedBy), 3),
    headerValues().map((value) => ({ 'x-service-signature-v2': value })),
    headerValues().map((value) => ({ ...signedBy('legacy'), 'x-service-signature-v2': value })),
    headerValues().map((value) => ({ 'x-service-signature': value })),
    fc.dictionary(fc.string(), fc.string()),
    fc.array(
      fc
        .constantFrom('x-service-signature-v2', 'X-Service-Signature-V2', 'x')
        .map((name) => [name, `t=${T},v1=${GOOD}`]),
      { maxLength: 3 },
    ),
  ) as fc.Arbitrary<HeaderSource>;

/** Everything a caller may pass, right and wrong, with a good chance of being right. */
export const inputs = (): fc.Arbitrary<VerifyInput> =>
  fc
    .record({
      headers: fc.oneof(often(headers(), 9), fc.constantFrom(undefined, null, 'x', [])),
      body: fc.oneof(
        often(fc.constantFrom(BODY, new TextEncoder().encode(BODY)), 3),
        bytes(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom(undefined, null, {}, 7),
      ),
      secret: fc.oneof(
        often(fc.constantFrom(SECRET, [SECRET], ['other', SECRET], new TextEncoder().encode(SECRET)), 3),
        secrets(),
        fc.constantFrom(undefined, null, '', ' ', [], [''], 7),
      ),
      legacy: fc.constantFrom(undefined, 'reject', 'accept', true),
      toleranceSeconds: fc.oneof(often(fc.constant(undefined), 4), fc.double(), fc.integer({ min: 1, max: 1000 })),
      now: fc.oneof(often(fc.constant(NOW), 3), fc.double(), fc.integer({ min: NOW - 400_000, max: NOW + 400_000 })),
    })
    .map(({ now: time, ...rest }) => ({ ...rest, now: () => time }) as unknown as VerifyInput);
