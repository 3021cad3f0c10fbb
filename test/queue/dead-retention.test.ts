import { describe, expect, it, vi } from 'vitest';
import { deadRetention } from '../../src/queue/dead-retention.js';
import { later, refusal } from '../support/deliveries.js';

/** Dead letters with these times of their death, and a retention of 1 000 ms at the time 2 000. */
function letters(times: readonly (number | undefined)[], fails: readonly string[] = []) {
  let left = times.map((diedAt, i) => ({ id: `${i}`, diedAt }));
  const list = vi.fn(async ({ limit, offset }: { limit: number; offset: number }) =>
    left.slice(offset, offset + limit),
  );
  const discard = vi.fn(async (id: string) => {
    if (fails.includes(id)) throw new Error(`not ${id}`);
    left = left.filter((one) => one.id !== id);
    return true;
  });
  const retention = deadRetention({ retainDead: 1_000 }, { list, discard }, () => 2_000);
  return { retention, list, discard, left: () => left.map(({ id }) => id) };
}

describe('the retention of dead letters', () => {
  it('all that are too old are discarded, and the younger ones stay', async () => {
    const { retention, left } = letters([...Array(250).fill(999), 1_000, 1_500]);
    expect(await retention.purge()).toBe(250);
    expect(left()).toEqual(['250', '251']);
  });

  it('a letter that cannot be discarded keeps no other, and its error is reported at the end', async () => {
    const { retention, left } = letters(Array(150).fill(1), ['0', '3']);
    await expect(retention.purge()).rejects.toThrow('not 3');
    expect(left()).toEqual(['0', '3']);
  });

  it('letters whose time is not known stay, and keep no other', async () => {
    const { retention, left } = letters([...Array(150).fill(undefined), 1, 2]);
    expect(await retention.purge()).toBe(2);
    expect(left()).toHaveLength(150);
  });

  it('a look discards at most 100, at most once a minute, and reports its error', async () => {
    const { retention, discard, left } = letters(Array(150).fill(1), ['0']);
    const reported = later<unknown>();
    retention.discardOld((operation, _, error) => reported.resolve([operation, (error as Error).message]));
    expect(await reported.promise).toEqual(['retain', 'not 0']);
    expect(left()).toHaveLength(50);
    const calls = discard.mock.calls.length;
    retention.discardOld();
    expect(discard.mock.calls).toHaveLength(calls);
  });

  it('nothing is listed without an age', async () => {
    const list = vi.fn();
    const retention = deadRetention({}, { list, discard: vi.fn() });
    retention.discardOld();
    expect(await retention.purge()).toBe(0);
    expect(list).not.toHaveBeenCalled();
  });

  it.each([['soon'], [0], ['400d'], [{}]])('the age %j is refused', (retainDead) => {
    const make = () => deadRetention({ retainDead: retainDead as string }, { list: vi.fn(), discard: vi.fn() });
    expect(refusal(make).message).toContain('retainDead must be milliseconds');
  });
});
