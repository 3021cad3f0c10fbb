import { describe, expect, it } from 'vitest';
import { isDifferent, pairHeaders, pairLines } from '../../../src/page/front/differences.js';

describe('two lists of headers', () => {
  it('headers are paired by name, whatever its case', () => {
    const pairs = pairHeaders(
      [['Date', 'x'], ['x-a', '1'], ['X-A', '2'], ['gone', '']],
      [['x-a', '1, 2'], ['date', 'y'], ['__proto__', 'z']],
    ); // biome-ignore format: two lists
    expect(pairs).toEqual([
      { name: 'date', left: 'x', right: 'y' },
      { name: 'x-a', left: '1, 2', right: '1, 2' },
      { name: 'gone', left: '', right: undefined },
      { name: '__proto__', left: undefined, right: 'z' },
    ]);
    expect(pairs.map(isDifferent)).toEqual([true, false, true, true]);
  });
});

describe('the lines of two texts', () => {
  /** As `a=a` for the same line, `a|b` for two that differ, and `a|` where one has none. */
  const paired = (left: string, right: string) =>
    pairLines([...left].join('\n'), [...right].join('\n'))
      .map((pair) => (isDifferent(pair) ? `${pair.left ?? ''}|${pair.right ?? ''}` : pair.left))
      .join(' ');

  it.each([
    ['abc', 'abc', 'a b c'],
    ['abc', 'axc', 'a b|x c'],
    ['abc', 'ac', 'a b| c'],
    ['ac', 'abc', 'a |b c'],
    ['abcd', 'xbyd', 'a|x b c|y d'],
    ['aab', 'ab', 'a a| b'],
    ['abcde', 'bxxde', 'a| b c|x |x d e'],
    ['a', 'b', 'a|b'],
  ])('%s and %s are paired so that most are the same', (left, right, expected) => {
    expect(paired(left, right)).toBe(expected);
  });

  it('lines have their numbers in the left text, or in the right one', () => {
    expect(pairLines('a\nb', 'a\nx\ny').map(({ name }) => name)).toEqual(['1', '2', '3']);
  });

  it('texts with very many different lines are paired line by line', () => {
    const [left, right] = ['l', 'r'].map((side) => Array.from({ length: 1_001 }, (_, n) => `${side}${n}`).join('\n'));
    const pairs = pairLines(`${left}\nsame`, `${right}\nsame`);
    expect(pairs).toHaveLength(1_002);
    expect(pairs[7]).toEqual({ name: '8', left: 'l7', right: 'r7' });
    expect(pairs.filter((pair) => !isDifferent(pair))).toHaveLength(1);
  });
});
