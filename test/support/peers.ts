import { createHmac } from 'node:crypto';
import * as octokitsOwn from '@octokit/webhooks-methods';
import { verifySignature } from 'service-webhooks';
import Stripe from 'stripe';
import { bodyOf, NOW, now, SECRET } from './deliveries.js';

export interface Input {
  header: string;
  body: Uint8Array;
}

/** What one side accepts and the other does not: a name, when it applies, and an input that shows it. */
export interface Difference {
  name: string;
  applies(input: Input): boolean;
  shown: Partial<Input>;
}

const BODY = bodyOf();
const T = NOW / 1000;
export const utf8 = (text: string) => new TextEncoder().encode(text);
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

/** What others made to verify the same signatures, held against this library. */
interface Peer {
  name: string;
  /** The header that both accept for a body, but for the differences. */
  signed(body: Uint8Array): string;
  accepts(input: Input): Promise<{ ours: boolean; theirs: boolean }>;
  onlyOurs: Difference[];
  onlyTheirs: Difference[];
}

export const stripe: Peer = {
  name: 'stripe',
  signed: v2,
  accepts: async ({ header, body }) => ({
    ours: isAccepted(() =>
      verifySignature({ headers: { 'x-service-signature-v2': header }, body, secret: SECRET, now }),
    ),
    theirs: isAccepted(() =>
      Stripe.webhooks.signature?.verifyHeader(Buffer.from(body), header, SECRET, 300, undefined, NOW),
    ),
  }),
  onlyOurs: ONLY_OURS,
  onlyTheirs: ONLY_STRIPES,
};

export const octokit: Peer = {
  name: 'octokit',
  signed: (body) => `sha256=${macOf(body)}`,
  accepts: async ({ header, body }) => ({
    ours: isAccepted(() =>
      verifySignature({ headers: { 'x-service-signature': header }, body, secret: SECRET, now, legacy: 'accept' }),
    ),
    theirs: await octokitsOwn.verify(SECRET, Buffer.from(body).toString(), header).catch(() => false),
  }),
  onlyOurs: [DECODED, EMPTY],
  onlyTheirs: [],
};

function isAccepted(call: () => unknown): boolean {
  try {
    return Boolean(call());
  } catch {
    return false;
  }
}
