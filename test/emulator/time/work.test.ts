import { describe, expect, it } from 'vitest';
import { createWork, type Work } from '../../../src/emulator/time/work.js';

/** Jobs that end when they are told to, and the names of those that have begun. */
function createJobs(work: Work) {
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (cause: Error) => void }>();
  const run = (name: string) =>
    work.run(() => {
      begun.push(name);
      return new Promise<void>((resolve, reject) => ends.set(name, { resolve, reject }));
    });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    begun,
    run,
    async end(name: string) {
      ends.get(name)?.resolve();
      await turn();
    },
    async fail(name: string) {
      ends.get(name)?.reject(new Error('no'));
      await turn();
    },
    /** Whether it has resolved by now. */
    async isOver(promise: Promise<void>) {
      let over = false;
      promise.then(() => {
        over = true;
      });
      await turn();
      return over;
    },
  };
}

describe('work', () => {
  it('begins at once as far as the limit, and then one for each that ends, in their order', async () => {
    const work = createWork(2);
    const { run, end, fail, begun } = createJobs(work);
    for (const name of ['a', 'b', 'c', 'd', 'e']) run(name);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await fail('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('is settled when nothing is going on, and not before', async () => {
    const work = createWork(1);
    const { run, end, isOver } = createJobs(work);
    expect(await isOver(work.settled())).toBe(true);
    run('a');
    run('b');
    const settled = work.settled();
    expect(await isOver(settled)).toBe(false);
    await end('a');
    expect(await isOver(settled)).toBe(false);
    await end('b');
    expect(await isOver(settled)).toBe(true);
  });

  it('is not settled for who was woken, if something goes on again by then', async () => {
    const work = createWork(1);
    const { run, end, isOver } = createJobs(work);
    run('a');
    const settled = work.settled();
    work.rest();
    work.resume();
    expect(await isOver(settled)).toBe(false);
    await end('a');
    expect(await isOver(settled)).toBe(true);
  });

  it('has room while no more wait than may run at once', async () => {
    const work = createWork(2);
    const { run, end, isOver } = createJobs(work);
    for (const name of ['a', 'b', 'c', 'd']) run(name);
    expect(await isOver(work.room())).toBe(true);
    run('e');
    const room = work.room();
    expect(await isOver(room)).toBe(false);
    await end('a');
    expect(await isOver(room)).toBe(true);
  });

  it('that rests neither counts nor takes a place until it is resumed', async () => {
    const work = createWork(1);
    const { run, end, isOver, begun } = createJobs(work);
    run('a');
    run('b');
    work.rest();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(await isOver(work.settled())).toBe(true);
    work.resume();
    const settled = work.settled();
    run('c');
    expect([begun, await isOver(settled)]).toEqual([['a', 'b'], false]);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('c');
    expect(await isOver(settled)).toBe(true);
  });
});
