import type { DeadLetter } from 'service-webhooks/queue';
import { describe, expect, it } from 'vitest';
import { letterPages } from '../../../src/commands/queue/letter-selection.js';

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

  it('an engine without pages is read in one call', async () => {
    const asked: object[] = [];
    const read = async (page: object) => {
      asked.push(page);
      return many(300);
    };
    let count = 0;
    for await (const _ of letterPages(read, { hasNoPages: true })) count += 1;
    expect({ count, asked }).toEqual({ count: 300, asked: [{ limit: 1_000_000, offset: 0 }] });
  });
});
