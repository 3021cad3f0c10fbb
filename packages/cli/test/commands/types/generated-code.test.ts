import { join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { compileTogether, strictOptions } from '../../../../../test/support/compile.js';
import { ROOT } from '../../../../../test/support/markdown.js';
import { fieldsFrom, learnedFrom } from './learned.js';

interface Schemas {
  zod: z.ZodType;
  valibot: v.GenericSchema;
}

/** The schemas of `stt.completed` in the generated modules. */
async function schemasFrom(samples: readonly unknown[]): Promise<Schemas> {
  const { text } = await learnedFrom(samples);
  const evaluated = (code: string, name: string, library: object) => {
    const body = code.replace(/^import .*$/m, '').replace('export const schemas =', 'return');
    return new Function(name, body)(library)['stt.completed'];
  };
  return { zod: evaluated(text('zod'), 'z', z), valibot: evaluated(text('valibot'), 'v', v) };
}

const accepts = ({ zod, valibot }: Schemas, value: unknown) => [
  zod.safeParse(value).success,
  v.safeParse(valibot, value).success,
];

const odd = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    'true',
    '12',
    '2026-02-30',
    '2026-07-11 12:00:00Z',
    '2026-07-11T12:00Z',
    '12:00:00Z',
    'https://',
    'http://x',
    'https://[::1',
    'https://ä.example',
    'mailto:a@x.example',
    '2026-07-11T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-07-11T12:00:00+0200',
    '2026-07-11T12:00:00.1234567891Z',
    '0000-01-01',
    '2026-07-11T12:00:00-00:00',
    'https://a.b/%',
    'https://a..b/',
    'https://x.example:99999/',
    'HTTPS://X.EXAMPLE',
    'https:/x.example',
    'http:x',
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
);
const plainKey = fc.constantFrom('a', 'b', 'c', 'a-b', '$ref', '$schema', 'type', 'default', 'items', 'properties');
const oddKey = fc.oneof(fc.constantFrom('constructor', '__proto__', 'toString', 'anna@x.example'), fc.string());
const key = fc.oneof({ weight: 30, arbitrary: plainKey }, { weight: 1, arbitrary: oddKey });
const { data } = fc.letrec<{ data: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(odd, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('data'),
  ),
  // As JSON.parse makes them: `__proto__` is a field like any other.
  data: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
}));

describe('the generated schemas', () => {
  it('every sample is accepted by both libraries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(data, { minLength: 1, maxLength: 4 }), async (samples) => {
        const schemas = await schemasFrom(samples);
        for (const sample of samples) expect(accepts(schemas, sample)).toEqual([true, true]);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['a missing field', { url: null, at: '2026-07-11T12:00:00Z', list: [] }],
    ['a number in place of a text', { text: 1, url: null, at: '2026-07-11T12:00:00Z', list: [] }],
    ['a URL without a scheme', { text: 'x', url: 'x', at: '2026-07-11T12:00:00Z', list: [] }],
    ['a time without a date', { text: 'x', url: null, at: '12:00', list: [] }],
    ['a text in a list of objects', { text: 'x', url: null, at: '2026-07-11T12:00:00Z', list: ['x'] }],
  ])('%s is refused, and a field that no sample has is not', async (_, wrong) => {
    const right = { text: 'x', url: 'https://x.example', at: '2026-07-11T12:00:00+02:00', list: [{ a: 1 }] };
    const schemas = await schemasFrom([right, { ...right, url: null, list: [] }]);
    expect(accepts(schemas, { ...right, more: 1 })).toEqual([true, true]);
    expect(accepts(schemas, wrong)).toEqual([false, false]);
  });
});

const IMPORTS = `
import type { EventOf } from 'service-webhooks'; import { withSchemas } from 'service-webhooks/standard-schema';
import { schemas as ofValibot } from './valibot.js'; import { schemas as ofZod } from './zod.js'; void [withSchemas, ofValibot, ofZod];
`;

/** The problems of a program that uses the types. */
async function problemsOf(samples: readonly unknown[], lines: string): Promise<string[]> {
  const { text } = await learnedFrom(samples);
  const use = `${IMPORTS.replaceAll('\n', ' ')}\ndeclare const data: EventOf<'stt.completed'>['data'];\n${lines}`;
  const programs = new Map([
    [join(ROOT, 'generated/webhook-types.d.ts'), text('types')],
    [join(ROOT, 'generated/use.ts'), use],
    [join(ROOT, 'generated/zod.ts'), text('zod')],
    [join(ROOT, 'generated/valibot.ts'), text('valibot')],
  ]);
  return compileTogether(programs, strictOptions({ noEmit: true })).map((problem) =>
    problem.replace(/^.*generated\//, ''),
  );
}

describe('the generated types', () => {
  const samples = [
    {
      text: 'x',
      at: '2026-07-11T12:00:00Z',
      segments: [{ start: 0 }, { start: 1, speaker: null }],
      by: { 'a@b.example': [1] },
      'a-b': {},
    },
    { text: 'x', at: null, segments: [], by: {}, 'a-b': {}, mixed: ['x', 1, { y: true }] },
  ];

  it('the files compile in strict TypeScript, and the fields have their types', async () => {
    const lines = `
      export const text: string = data.text;
      export const at: string | null = data.at;
      export const numbers: number[] = data.segments.map(({ start }) => start);
      export const counts: number[] | undefined = data.by['x'];
      export const mixed: (string | number | { y: boolean })[] | undefined = data.mixed;
      export const open: unknown = data['a-b']['c'];
      export const byZod = withSchemas(ofZod, { 'stt.completed': ({ data }) => data.text.length + (data.by['x']?.length ?? 0) });
      export const byValibot = withSchemas(ofValibot, { 'stt.completed': ({ data }) => data.text.length + (data.at?.length ?? 0) });`;
    expect(await problemsOf(samples, lines)).toEqual([]);
  });

  it.each([
    ['data.txt;', "Property 'txt' does not exist"],
    ['data.at.length;', "'data.at' is possibly 'null'"],
    ['data.segments[0].start;', 'possibly'],
  ])('the compiler refuses %s', async (line, says) => {
    expect(await problemsOf(samples, `${line}\nexport {};`)).toEqual([expect.stringContaining(says)]);
  });

  it('arbitrary data has types that compile', async () => {
    const all = fc.sample(data, { numRuns: 60, seed: 7 });
    expect(await problemsOf(all, 'export {};')).toEqual([]);
    for (const one of all) await fieldsFrom([one]);
  });
});
