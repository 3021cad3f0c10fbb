import { describe, expect, it } from 'vitest';
import { shortened } from '../../src/cli/shortened.js';

describe('shortened', () => {
  it('a text is cut behind the length that was asked for, with a mark', () => {
    expect(shortened('abcd', 3)).toBe('abc…');
    expect(shortened('abc', 3)).toBe('abc');
    expect(shortened('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
  });
});
