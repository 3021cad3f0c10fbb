import { describe, expect, it } from 'vitest';
import { createBoundedLog } from '../../src/delivery/bounded-log.js';

/** A log of texts that count one byte a letter, and the ones it dropped. */
function create(limits: { maxItems: number; maxBytes: number }) {
  const dropped: string[] = [];
  const log = createBoundedLog<string>({
    ...limits,
    bytesOf: ({ length }) => length,
    onDropped: (item) => dropped.push(item),
  });
  return { log, dropped };
}

describe("createBoundedLog for the emulator's attempts", () => {
  it('the log keeps the latest items up to maxItems', () => {
    const { log, dropped } = create({ maxItems: 2, maxBytes: 100 });
    for (const item of ['a', 'b']) log.add(item);
    expect([[...log], dropped]).toEqual([['a', 'b'], []]);
    for (const item of ['c', 'd']) log.add(item);
    expect([[...log], dropped, log.size, log.at(0), log.at(2)]).toEqual([['c', 'd'], ['a', 'b'], 2, 'c', undefined]);
  });

  it('the log keeps the latest items up to exactly maxBytes', () => {
    const { log, dropped } = create({ maxItems: 100, maxBytes: 6 });
    for (const item of ['aa', 'bb', 'cc']) log.add(item);
    expect(dropped).toEqual([]);
    log.add('d');
    expect([[...log], dropped]).toEqual([['bb', 'cc', 'd'], ['aa']]);
    log.add('eee');
    expect([[...log], dropped]).toEqual([
      ['cc', 'd', 'eee'],
      ['aa', 'bb'],
    ]);
  });

  it('an item larger than maxBytes empties the log, and the next item is kept', () => {
    const { log, dropped } = create({ maxItems: 100, maxBytes: 3 });
    log.add('a');
    log.add('large');
    expect([[...log], dropped]).toEqual([[], ['a', 'large']]);
    log.add('bcd');
    expect([...log]).toEqual(['bcd']);
  });

  it('items removed by filter() make room, and are not reported as dropped', () => {
    const { log, dropped } = create({ maxItems: 100, maxBytes: 6 });
    for (const item of ['aaa', 'b', 'cc']) log.add(item);
    log.filter((item) => item !== 'aaa');
    expect([...log]).toEqual(['b', 'cc']);
    log.add('ddd');
    expect([[...log], dropped]).toEqual([['b', 'cc', 'ddd'], []]);
    log.add('e');
    expect([[...log], dropped]).toEqual([['cc', 'ddd', 'e'], ['b']]);
  });
});
