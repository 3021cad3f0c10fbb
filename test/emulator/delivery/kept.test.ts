import { describe, expect, it } from 'vitest';
import { createKept } from '../../../src/emulator/delivery/kept.js';

/** Texts, each of as many bytes as it has letters. */
function create(limits: { maxItems: number; maxBytes: number }) {
  const evicted: string[] = [];
  const kept = createKept<string>({
    ...limits,
    bytesOf: ({ length }) => length,
    evicted: (item) => evicted.push(item),
  });
  return { kept, evicted };
}

describe('what is kept', () => {
  it('is as many as there may be, the latest', () => {
    const { kept, evicted } = create({ maxItems: 2, maxBytes: 100 });
    for (const item of ['a', 'b']) kept.add(item);
    expect([[...kept], evicted]).toEqual([['a', 'b'], []]);
    for (const item of ['c', 'd']) kept.add(item);
    expect([[...kept], evicted, kept.size, kept.at(0), kept.at(2)]).toEqual([
      ['c', 'd'],
      ['a', 'b'],
      2,
      'c',
      undefined,
    ]);
  });

  it('fits in the bytes, to the last of them', () => {
    const { kept, evicted } = create({ maxItems: 100, maxBytes: 6 });
    for (const item of ['aa', 'bb', 'cc']) kept.add(item);
    expect(evicted).toEqual([]);
    kept.add('d');
    expect([[...kept], evicted]).toEqual([['bb', 'cc', 'd'], ['aa']]);
    kept.add('eee');
    expect([[...kept], evicted]).toEqual([
      ['cc', 'd', 'eee'],
      ['aa', 'bb'],
    ]);
  });

  it('is nothing where the latest alone does not fit, and the next that does', () => {
    const { kept, evicted } = create({ maxItems: 100, maxBytes: 3 });
    kept.add('a');
    kept.add('large');
    expect([[...kept], evicted]).toEqual([[], ['a', 'large']]);
    kept.add('bcd');
    expect([...kept]).toEqual(['bcd']);
  });

  it('has room again for what was filtered out, which is not said to be evicted', () => {
    const { kept, evicted } = create({ maxItems: 100, maxBytes: 6 });
    for (const item of ['aaa', 'b', 'cc']) kept.add(item);
    kept.filter((item) => item !== 'aaa');
    expect([...kept]).toEqual(['b', 'cc']);
    kept.add('ddd');
    expect([[...kept], evicted]).toEqual([['b', 'cc', 'ddd'], []]);
    kept.add('e');
    expect([[...kept], evicted]).toEqual([['cc', 'ddd', 'e'], ['b']]);
  });
});
