import { describe, expect, it } from 'vitest';
import { reasonOf, safeStack, storedStack } from '../../src/queue/reason.js';

/** Half of a character that takes two units of a string. */
const HALF = /\p{Cs}/u;

describe('the failure that a queue stores', () => {
  it('the stack has the lines of the error and of its cause', () => {
    const stack = storedStack(new Error('no answer', { cause: new Error('no disk') }));
    expect(stack).toMatch(/^Error: no answer\n +at [\s\S]*\nCaused by: Error: no disk\n +at /);
  });

  it('a stack has at most 4 000 characters, and none that a terminal acts on', () => {
    const stack = storedStack(new Error('\u001b[2J\u0000'.repeat(2_000)));
    expect(stack).toHaveLength(4_000);
    expect(stack.startsWith('Error: \\u001b[2J\\u0000')).toBe(true);
    expect(safeStack('a\nb\u001b\u202e')).toBe('a\nb\\u001b\\u202e');
  });

  it.each([
    ['a reason', 1_000, reasonOf],
    ['a stack', 4_000, safeStack],
  ])('%s does not end with half a character', (_, length, stored) => {
    expect(stored(`${'a'.repeat(length - 1)}😀`)).toBe('a'.repeat(length - 1));
    expect(stored(`\u0000${'a'.repeat(length - 7)}😀`)).not.toMatch(HALF);
  });
});
