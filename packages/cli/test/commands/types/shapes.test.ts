import { describe, expect, it } from 'vitest';
import { fieldsFrom, fieldsIn, learnedFrom, learnedFromLines } from './learned.js';

describe('the types that are learned', () => {
  it.each([
    ['a text', [{ a: 'x' }], 'a: string;'],
    ['a whole number', [{ a: 1 }], 'a: number;'],
    ['a boolean', [{ a: true }, { a: false }], 'a: boolean;'],
    ['a field that one delivery lacks', [{ a: 1, b: 1 }, { b: 2 }], 'a?: number; b: number;'],
    ['a field that is null in one delivery', [{ a: null }, { a: 'x' }], 'a: string | null;'],
    ['a field that was always null', [{ a: null }], 'a: unknown;'],
    ['texts and numbers', [{ a: 1 }, { a: 'x' }, { a: null }], 'a: string | number | null;'],
    ['an object in one delivery and a text in another', [{ a: 'x' }, { a: { b: 1 } }], 'a: string | { b: number; };'],
    ['a list', [{ a: [1] }, { a: ['x', null] }], 'a: (string | number | null)[];'],
    ['a list that was always empty', [{ a: [] }], 'a: unknown[];'],
    ['lists of lists', [{ a: [[1], []] }], 'a: number[][];'],
    ['an object that was always empty', [{ a: {} }], 'a: Record<string, unknown>;'],
    ['an object', [{ a: { c: 1, b: { d: 'x' } } }], 'a: { b: { d: string; }; c: number; };'],
    ['a name with a hyphen', [{ 'a-b': 1 }], "'a-b': number;"],
    ['a reference of JSON Schema', [{ $ref: '#/definitions/Data' }], '$ref: string;'],
    ['a date and time', [{ a: '2026-07-11T12:00:00.000Z' }], '/** A date and time in ISO 8601. */ a: string;'],
    ['a date or null', [{ a: '2024-02-29' }, { a: null }], '/** A date, YYYY-MM-DD. */ a: string | null;'],
    ['a date that the calendar has not', [{ a: '2026-02-30' }], 'a: string;'],
    ['a URL', [{ a: 'https://x.example/a?b#c' }], '/** A URL. */ a: string;'],
    ['dates and other texts', [{ a: '2026-07-11' }, { a: 'x' }], 'a: string;'],
    ['dates and URLs', [{ a: '2026-07-11' }, { a: 'https://x.example' }], 'a: string;'],
    [
      'digits and a boolean as text',
      [{ a: '12', b: 'true', c: '550e8400-e29b-41d4-a716-446655440000' }],
      'a: string; b: string; c: string;',
    ],
  ])('%s has its type', async (_, samples, fields) => {
    expect(await fieldsFrom(samples)).toBe(fields);
  });

  it('a number that is too large for JavaScript may be anything', async () => {
    const { text } = await learnedFromLines(
      '{"type":"stt.completed","data":{"a":1e999}}\n{"type":"stt.completed","data":{"a":1}}',
    );
    expect(fieldsIn(text('types'))).toBe('a: unknown;');
  });

  it('what is nested deeper than any delivery may be anything', async () => {
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    const { text } = await learnedFromLines(`{"type":"stt.completed","data":{"a":${nested}}}`);
    expect(fieldsIn(text('types'))).toMatch(/^a: unknown(\[\])+;$/);
  });

  it('so many fields that some must be data are refused', async () => {
    const letters = [...'abcdefghijklmnop'];
    const wide = (of: unknown) => Object.fromEntries(letters.map((letter) => [letter, of]));
    await expect(learnedFrom([wide(wide(wide(1)))])).rejects.toThrow('are its keys data? Then pass --record data');
  });

  it('the order of deliveries, of fields and of elements changes nothing', async () => {
    const samples = [{ b: 1, a: [{ d: 1 }, { c: 'x', d: 2 }] }, { a: [], e: null }, { e: { f: '2026-07-11' } }];
    const turned = [{ e: { f: '2026-07-11' } }, { e: null, a: [] }, { a: [{ d: 2, c: 'x' }, { d: 1 }], b: 1 }];
    const [one, other] = [await learnedFrom(samples), await learnedFrom([...turned, ...turned])];
    expect(other.text('types')).toBe(one.text('types'));
  });
});
