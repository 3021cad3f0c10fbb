import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DeadLetter } from 'service-webhooks/queue';
import { describe, expect, it } from 'vitest';
import { findLetters, letterPages } from '../../src/queues/letter-selection.js';
import type { ListedLetter } from '../../src/queues/listed-letter.js';

function letter(id: number, bytes = 10): DeadLetter {
  const delivery = { body: 'x'.repeat(bytes) } as DeadLetter['delivery'];
  return { id: String(id), delivery, diedAt: id, attempts: 1, reason: undefined };
}

/** Reads everything, and records which pages were asked for. */
async function readAll(letters: DeadLetter[], whenRead: (pages: number) => void = () => {}) {
  const pages: string[] = [];
  const ids: string[] = [];
  let largest = 0;
  const read = async ({ limit, offset }: { limit: number; offset: number }) => {
    pages.push(`${offset}+${limit}`);
    const page = letters.slice(offset, offset + limit);
    const bytes = page.map(({ delivery }) => delivery?.body.length ?? 0).reduce((sum, one) => sum + one, 0);
    largest = Math.max(largest, bytes);
    whenRead(pages.length);
    return page;
  };
  for await (const { id } of letterPages(read)) ids.push(id);
  return { pages, ids, largest };
}

const many = (count: number, bytes?: number) => Array.from({ length: count }, (_, i) => letter(i, bytes));

describe('dead letters that queue reads in pages', () => {
  it.each([0, 1, 19, 20, 21, 60, 1_000])('%i small letters are each read once, in pages that grow', async (count) => {
    const { ids, pages } = await readAll(many(count));
    expect(ids).toEqual(many(count).map(({ id }) => id));
    expect(pages.slice(0, 3)).toEqual(['0+20', '20+40', '60+80'].slice(0, count < 20 ? 1 : count < 60 ? 2 : 3));
    expect(pages.every((page) => Number(page.split('+')[1]) <= 250)).toBe(true);
  });

  it('large letters are read in small pages', async () => {
    const { largest, pages } = await readAll(many(100, 500_000));
    expect(largest).toBe(20 * 500_000);
    expect(pages).toHaveLength(6);
  });

  it('pages grow while letters are small and shrink when large ones follow', async () => {
    const large = Array.from({ length: 900 }, (_, i) => letter(140 + i, 300_000));
    const { pages } = await readAll([...many(140), ...large]);
    expect(pages.slice(0, 6)).toEqual(['0+20', '20+40', '60+80', '140+160', '300+27', '327+27']);
  });

  it('a letter that moved to a later page is yielded once', async () => {
    const letters = many(30);
    const { ids } = await readAll(letters, (pages) => {
      if (pages === 1) letters.unshift(letter(99));
    });
    expect(ids).toEqual(many(30).map(({ id }) => id));
  });

  /** Reads an engine without pages, which gives its letters out in another order each time. */
  async function readWithoutPages(letters: DeadLetter[], { enough = 1e9, most = 1e9 } = {}) {
    const asked: string[] = [];
    const ids: string[] = [];
    const read = async ({ limit, offset }: { limit: number; offset: number }) => {
      asked.push(`${offset}+${limit}`);
      return letters.slice(offset, offset + limit).reverse();
    };
    for await (const { id } of letterPages(read, { hasNoPages: true, most })) if (ids.push(id) === enough) break;
    return { asked, ids };
  }

  it.each([
    [300, ['0+1000']],
    [1_000, ['0+1000', '0+10000']],
    [12_000, ['0+1000', '0+10000', '0+100000']],
  ])('%i letters of an engine without pages are each read once, in the calls %j', async (count, calls) => {
    const { asked, ids } = await readWithoutPages(many(count));
    expect(asked).toEqual(calls);
    expect(ids.toSorted()).toEqual(
      many(count)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  it('an engine without pages is not asked for more letters than are needed', async () => {
    expect((await readWithoutPages(many(5_000), { enough: 1_000 })).asked).toEqual(['0+1000']);
    expect((await readWithoutPages(many(5_000), { most: 1_000 })).asked).toEqual(['0+1000']);
    expect((await readWithoutPages(many(5_000), { most: 20 })).ids).toHaveLength(20);
  });

  it('jobs without an id of their own are all read', async () => {
    const strange = Array.from({ length: 1_500 }, () => ({ ...letter(0), id: '' }));
    expect((await readWithoutPages(strange)).ids).toHaveLength(1_500);
  });
});

describe('dead letters that a word begins', () => {
  const listed = (n: number) => ({ ...letter(n), id: `evt_0123456${n}`, state: 'dead' }) as ListedLetter;

  async function* begun(count: number, whenRead: (letter: ListedLetter) => void = () => {}) {
    for (let n = 0; n < count; n += 1) {
      const one = listed(n);
      whenRead(one);
      yield one;
    }
  }

  it('five of their ids are named, and that there are others', async () => {
    const five = [0, 1, 2, 3, 4].map((n) => `evt_0123456${n}`).join(', ');
    await expect(findLetters(begun(5), ['evt_0123'])).rejects.toThrow(`several ids: ${five}.`);
    await expect(findLetters(begun(7), ['evt_0123'])).rejects.toThrow(`several ids: ${five} and others.`);
  });

  it('most of them are not kept in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const kept: WeakRef<ListedLetter>[] = [];
    let alive = 0;
    async function* watched() {
      yield* begun(50, (one) => kept.push(new WeakRef(one)));
      await new Promise(setImmediate);
      collect();
      alive = kept.filter((one) => one.deref() !== undefined).length;
    }
    await expect(findLetters(watched(), ['evt_0123'])).rejects.toThrow('several ids');
    expect(alive).toBeLessThan(10);
  });
});
