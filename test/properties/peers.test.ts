import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { verifySignature } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { peer } from '../integration/installed.js';
import { NOW, now, SECRET } from '../support/deliveries.js';
import { BODY, bytes, headerValues, nearlyGoodHeaders } from './arbitraries.js';
import { holds, options } from './holds.js';

interface Input {
  header: string;
  body: Uint8Array;
}

/** What one side accepts and the other does not: a name, when it applies, and an input that shows it. */
interface Difference {
  name: string;
  applies(input: Input): boolean;
  shown: Partial<Input>;
}

const T = NOW / 1000;
const utf8 = (text: string) => new TextEncoder().encode(text);
const macOf = (content: string | Uint8Array, prefix = '') =>
  createHmac('sha256', SECRET).update(prefix).update(content).digest('hex');
const v2 = (body: string | Uint8Array = BODY, t: number | string = T) => `t=${t},v1=${macOf(body, `${t}.`)}`;
const elements = ({ header }: Input) => header.split(',');
const starting = (begin: string, input: Input) => elements(input).filter((element) => element.startsWith(begin));
const isText = ({ body }: Input) => {
  try {
    return Buffer.from(new TextDecoder('utf-8', { fatal: true }).decode(body)).equals(body);
  } catch {
    return false;
  }
};

const DECODED: Difference = {
  name: 'a body that is not UTF-8, or begins with a byte order mark: they verify what they decode it to',
  applies: (input) => !isText(input),
  shown: { body: Uint8Array.of(0xff, 0x00) },
};

const ONLY_OURS: Difference[] = [
  DECODED,
  {
    name: 'an empty signature beside a good one: it throws',
    applies: (input) => elements(input).some((element) => /^v1(=$|==|$)/.test(element)),
    shown: { header: `${v2()},v1=` },
  },
  {
    name: 'as many characters, but more bytes, beside a good one: it throws',
    applies: (input) => starting('v1=', input).some((v1) => /[^\0-\x7f]/.test(v1)),
    shown: { header: `${v2()},v1=${'é'.repeat(64)}` },
  },
];

const EMPTY: Difference = {
  name: 'an empty body',
  applies: ({ body }) => body.length === 0,
  shown: { body: utf8('') },
};

const ONLY_STRIPES: Difference[] = [
  {
    name: 'a time more than 300 s ahead',
    applies: (input) => starting('t=', input).some((t) => Number.parseInt(t.slice(2), 10) > T + 300),
    shown: { header: v2(BODY, T + 301) },
  },
  {
    name: 'a time that is not plain decimal',
    applies: (input) => starting('t=', input).some((t) => !/^t=(0|[1-9]\d{0,11})$/.test(t)),
    shown: { header: v2().replace(',', 's,') },
  },
  {
    name: 'several times: the last one counts',
    applies: (input) => starting('t', input).filter((t) => /^t(=|$)/.test(t)).length > 1,
    shown: { header: `t=1,${v2()}` },
  },
  {
    name: 'an element without an equals sign',
    applies: (input) => elements(input).some((element) => !element.includes('=')),
    shown: { header: `${v2()},v2` },
  },
  { name: 'white space', applies: ({ header }) => /\s/.test(header), shown: { header: `${v2()}, v2=x` } },
  {
    name: 'a signature with something behind it',
    applies: (input) => starting('v1=', input).some((v1) => /^v1=[0-9a-f]{64}=/.test(v1)),
    shown: { header: `${v2()}=` },
  },
  {
    name: 'more than 32 elements',
    applies: (input) => elements(input).length > 32,
    shown: { header: v2() + ',v2=x'.repeat(31) },
  },
  {
    name: 'more than eight signatures',
    applies: (input) => starting('v1=', input).length > 8,
    shown: { header: v2() + ',v1=x'.repeat(8) },
  },
  {
    name: 'more than 4,096 characters',
    applies: ({ header }) => header.length > 4096,
    shown: { header: `${v2()},v2=${'x'.repeat(4096)}` },
  },
];

interface Verdicts {
  ours: boolean;
  theirs: boolean;
}

/** Theirs is accepted only where ours is, and the other way round, but for the differences that are named. */
function expectAgreement(input: Input, { ours, theirs }: Verdicts, onlyOurs: Difference[], onlyTheirs: Difference[]) {
  if (ours === theirs) return;
  const named = (ours ? onlyOurs : onlyTheirs).filter(({ applies }) => applies(input));
  expect(
    named.map(({ name }) => name),
    `accepted by ${ours ? 'us' : 'them'} alone`,
  ).not.toEqual([]);
}

const bodies = () =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(utf8(BODY)) }, fc.string({ unit: 'binary' }).map(utf8), bytes());
const texts = (some: fc.Arbitrary<unknown>) =>
  some.filter((value) => typeof value === 'string') as fc.Arbitrary<string>;

const stripe = (await peer('stripe/esm/stripe.esm.node.js'))?.default;
const octokit = await peer('@octokit/webhooks-methods/dist-node/index.js');

describe.skipIf(!stripe)('stripe', () => {
  const accepts = async ({ header, body }: Input) => ({
    ours: isAccepted(() =>
      verifySignature({ headers: { 'x-service-signature-v2': header }, body, secret: SECRET, now }),
    ),
    theirs: isAccepted(() =>
      stripe.webhooks.signature.verifyHeader(Buffer.from(body), header, SECRET, 300, undefined, NOW),
    ),
  });

  it('agrees about every header and every body, but for what is named', options, () =>
    holds(
      [fc.oneof(nearlyGoodHeaders(), texts(headerValues()), fc.constant(undefined)), bodies()],
      async (header, body) => {
        const input = { header: header ?? v2(body), body };
        expectAgreement(input, await accepts(input), ONLY_OURS, ONLY_STRIPES);
      },
    ),
  );

  it.each(ONLY_STRIPES)('alone accepts $name', async ({ shown, applies }) => {
    const input = { header: v2(), body: utf8(BODY), ...shown };
    expect(applies(input)).toBe(true);
    expect(await accepts(input)).toEqual({ ours: false, theirs: true });
  });

  it.each(ONLY_OURS)('alone refuses $name', async ({ shown, applies }) => {
    const input = { header: v2(shown.body), body: utf8(BODY), ...shown };
    expect(applies(input)).toBe(true);
    expect(await accepts(input)).toEqual({ ours: true, theirs: false });
  });
});

describe.skipIf(!octokit)('octokit', () => {
  const accepts = async ({ header, body }: Input) => ({
    ours: isAccepted(() =>
      verifySignature({ headers: { 'x-service-signature': header }, body, secret: SECRET, now, legacy: 'accept' }),
    ),
    theirs: await octokit.verify(SECRET, Buffer.from(body).toString(), header).catch(() => false),
  });
  const legacy = (body: Uint8Array) => `sha256=${macOf(body)}`;

  it('agrees about every header and every body, but for what is named', options, () =>
    holds([fc.oneof(fc.nat(), texts(headerValues()), fc.constant(undefined)), bodies()], async (change, body) => {
      const right = legacy(body);
      const changed = typeof change === 'number' ? right.replace(right[change % 71] as string, 'a') : change;
      const input = { header: changed ?? right, body };
      expectAgreement(input, await accepts(input), [DECODED, EMPTY], []);
    }),
  );

  it.each([DECODED, EMPTY])('alone refuses $name', async ({ shown: { body = utf8('') } }) => {
    expect(await accepts({ header: legacy(body), body })).toEqual({ ours: true, theirs: false });
  });
});

function isAccepted(call: () => unknown): boolean {
  try {
    return Boolean(call());
  } catch {
    return false;
  }
}
