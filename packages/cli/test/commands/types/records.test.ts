import { describe, expect, it } from 'vitest';
import { fieldsFrom, learnedFrom } from './learned.js';

const pathsOf = async (samples: unknown[], named?: string[]) =>
  (await learnedFrom(samples, named)).records.map(({ path }) => path);

describe('an object whose keys are data', () => {
  it.each([
    'anna@example.com',
    'Anna Schmidt',
    'Müller',
    '+491701234567',
    'user_4711',
    '550e8400-e29b-41d4-a716-446655440000',
    'deadbeefcafe',
    'a1b2c3',
    '__proto__',
    'constructor',
    'toString',
    "it's",
    '*/ }; evil(); /*',
    'new\nline',
    '',
    '0',
    'x'.repeat(65),
  ])('the key %j makes its object a record, and is in no file', async (key) => {
    const by = JSON.parse(`{"plain":1,${JSON.stringify(key)}:2}`);
    const { records, text } = await learnedFrom([{ by }]);
    expect(records).toEqual([{ type: 'stt.completed', path: 'data.by' }]);
    expect(text('types')).toContain('by: Record<string, number>;');
    expect(text('zod')).toContain('by: z.record(z.string(), z.number()),');
    expect(text('valibot')).toContain('by: v.record(v.string(), v.number()),');
    for (const format of ['types', 'zod', 'valibot'] as const) expect(text(format)).not.toContain('plain');
  });

  it('the values of a record have one type, and their paths have a star', async () => {
    const users = { 'a@x.example': { n: 1, tags: { 'b@x.example': 'x' } }, 'c@x.example': { n: 2, o: null, tags: {} } };
    expect(await fieldsFrom([{ users }])).toBe(
      'users: Record<string, { n: number; o?: unknown; tags: Record<string, string>; }>;',
    );
    expect(await pathsOf([{ users }])).toEqual(['data.users', 'data.users.*.tags']);
  });

  it('one delivery with such a key decides for all', async () => {
    expect(await fieldsFrom([{ by: { anna: 1 } }, { by: { 'a@x.example': 2 } }])).toBe('by: Record<string, number>;');
  });

  it.each(['sha256', 'checksumSha256', 'iso639', 'h264', 'base64', 'mp3', 'line2', 'p95', 'constructorName'])(
    'the key %s is the name of a field',
    async (key) => expect(await fieldsFrom([{ [key]: 1 }])).toBe(`${key}: number;`),
  );

  it('data itself can be a record', async () => {
    const { text } = await learnedFrom([{ 'a@x.example': 1 }]);
    expect(text('types')).toContain("'stt.completed': Record<string, number>;");
    expect((await learnedFrom([{ anna: 1 }, { bob: 1 }])).text('types')).toContain('Record<string, number>;');
  });

  it('names that hardly two objects have in common are data, if their values are of one kind', async () => {
    expect(await fieldsFrom([{ by: { anna: 1 } }, { by: { bob: 2 } }])).toBe('by: Record<string, number>;');
    expect(await fieldsFrom([{ by: [{ anna: 1 }, { bob: 2, carl: null }] }])).toBe(
      'by: Record<string, number | null>[];',
    );
    expect(await fieldsFrom([{ by: { anna: 1 } }, { by: { bob: 'x' } }])).toBe('by: { anna?: number; bob?: string; };');
    expect(await fieldsFrom([{ by: { a: 1, b: 1 } }, { by: { a: 1 } }])).toBe('by: { a: number; b?: number; };');
    expect(await fieldsFrom([{ by: { a: 1 } }, { by: { a: 1 } }])).toBe('by: { a: number; };');
  });

  it('an object with very many keys is a record', async () => {
    const letters = [...'abcdefghijklmnopq'];
    const by = Object.fromEntries(letters.flatMap((a) => letters.map((b) => [`n${a}${b}`, 1])));
    expect(await fieldsFrom([{ by }])).toBe('by: Record<string, number>;');
  });

  it.each(['data.list[].by', 'data.list.by', 'data.list.*.by', 'data.*.by'])(
    'the path %s names an object',
    async (path) => {
      const samples = [{ list: [{ by: { anna: 1, bob: 2 } }] }];
      expect(await fieldsFrom(samples)).toBe('list: { by: { anna: number; bob: number; }; }[];');
      expect(await fieldsFrom(samples, [path])).toBe('list: { by: Record<string, number>; }[];');
      expect(await learnedFrom(samples, [path, 'data.nothing'])).toMatchObject({ missing: ['data.nothing'] });
    },
  );
});
