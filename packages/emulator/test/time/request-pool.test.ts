import { describe, expect, it } from 'vitest';
import { createRequestPool } from '../../src/time/request-pool.js';

/** A pool whose requests end on demand, and the names of those that have started. */
function createPool(limit: number) {
  const pool = createRequestPool(limit);
  const started: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (cause: Error) => void }>();
  const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  return {
    pool,
    started,
    run(...names: string[]) {
      for (const name of names) {
        pool.run(() => {
          started.push(name);
          return new Promise<void>((resolve, reject) => ends.set(name, { resolve, reject }));
        });
      }
    },
    async end(name: string) {
      ends.get(name)?.resolve();
      await turn();
    },
    async fail(name: string) {
      ends.get(name)?.reject(new Error('no'));
      await turn();
    },
    /** Whether the promise has resolved. */
    isOver: (promise: Promise<void>) => Promise.race([promise.then(() => true), turn().then(() => false)]),
  };
}

describe("the emulator's createRequestPool", () => {
  it('requests start in order up to the limit, then one for each that ends', async () => {
    const { run, end, fail, started } = createPool(2);
    run('a', 'b', 'c', 'd', 'e');
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await fail('a');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('a freed slot is filled only after other work, and in order', async () => {
    const { run, end, started } = createPool(1);
    run('a', 'b');
    const ended = end('a');
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
    run('c');
    expect(started).toEqual(['a']);
    await ended;
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('the pool is settled when no request is running or queued, and not before', async () => {
    const { pool, run, end, isOver } = createPool(1);
    expect(await isOver(pool.settled())).toBe(true);
    run('a', 'b');
    const settled = pool.settled();
    expect(await isOver(settled)).toBe(false);
    await end('a');
    expect(await isOver(settled)).toBe(false);
    await end('b');
    expect(await isOver(settled)).toBe(true);
  });

  it('settled() waits for a request that rested and resumed in the meantime', async () => {
    const { pool, run, end, isOver } = createPool(1);
    run('a');
    const settled = pool.settled();
    pool.rest();
    pool.resume();
    expect(await isOver(settled)).toBe(false);
    await end('a');
    expect(await isOver(settled)).toBe(true);
  });

  it('room() resolves while no more requests are queued than may run', async () => {
    const { pool, run, end, isOver } = createPool(2);
    run('a', 'b', 'c', 'd');
    expect(await isOver(pool.room())).toBe(true);
    run('e');
    const room = pool.room();
    expect(await isOver(room)).toBe(false);
    await end('a');
    expect(await isOver(room)).toBe(true);
  });

  it('a resting request neither counts nor takes a slot until it resumes', async () => {
    const { pool, run, end, isOver, started } = createPool(1);
    run('a', 'b');
    pool.rest();
    expect(await isOver(pool.settled())).toBe(false);
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(await isOver(pool.settled())).toBe(true);
    pool.resume();
    const settled = pool.settled();
    run('c');
    expect([await isOver(settled), started]).toEqual([false, ['a', 'b']]);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('c');
    expect(await isOver(settled)).toBe(true);
  });
});
