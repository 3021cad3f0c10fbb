import { describe, expect, it } from 'vitest';
import { readOldest, readSummaries } from '../../../src/commands/queue/summaries.js';
import type { Session } from '../../../src/session.js';
import { aLetter, memoryQueue } from '../../page/memory-queue.js';

const session = { signal: new AbortController().signal } as Session;
const many = (count: number) => Array.from({ length: count }, (_, n) => aLetter(n, { reason: `reason ${n % 2}` }));

describe('dead letters that a command reads within bounds', () => {
  it('of an engine without pages the oldest 1,000 are read in one call, and a filter applies to them', async () => {
    const memory = memoryQueue(many(1_200), { hasNoPages: true });
    const opened = await memory.placed.open();
    const { letters, oldest } = await readSummaries(session, opened, { reason: 'reason 1' });
    expect({ letters: letters.length, oldest }).toEqual({ letters: 500, oldest: 1_000 });
    expect(memory.calls).toEqual(['deadLetters 0+1000', 'stats']);
  });

  it('a list that is not cut does not say so', async () => {
    const { letters, oldest } = await readSummaries(
      session,
      await memoryQueue(many(1_000), { hasNoPages: true }).placed.open(),
      {},
    );
    expect({ letters: letters.length, oldest }).toEqual({ letters: 1_000, oldest: undefined });
  });

  it('an engine with pages is read beyond 10,000 by the list, and up to 10,000 for the reasons alone', async () => {
    const opened = await memoryQueue(many(10_100)).placed.open();
    expect((await readSummaries(session, opened, {})).letters).toHaveLength(10_100);
    const { letters, oldest } = await readOldest(session, opened);
    expect({ letters: letters.length, oldest }).toEqual({ letters: 10_000, oldest: 10_000 });
  });

  it('bodies and stacks are not kept', async () => {
    const { letters } = await readOldest(session, await memoryQueue([aLetter(1)]).placed.open());
    expect(letters).toMatchObject([{ id: '1', bytes: expect.any(Number) }]);
    expect(Object.keys(letters[0] ?? {})).not.toEqual(expect.arrayContaining(['body']));
    expect(JSON.stringify(letters)).not.toContain('app.ts');
  });
});
