import { describe, expect, it } from 'vitest';
import { BrokenRule, must } from '../../src/testing/must.js';

describe('a case', () => {
  it('goes on where what must be so is so', () => {
    expect(() => must(true, 'it is so', 'this')).not.toThrow();
  });

  it.each([
    ['nothing', undefined, 'it is so'],
    ['text', 'that', 'it is so, got that'],
    ['a value', { status: 200 }, 'it is so, got {"status":200}'],
    ['null', null, 'it is so, got null'],
  ])('ends where it is not, and says what was found: %s', (_, found, message) => {
    expect(() => must(false, 'it is so', found)).toThrow(new BrokenRule(message));
  });
});
