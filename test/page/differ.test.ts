import { expect, it } from 'vitest';
import { createDiffer } from '../../src/page/differ.js';
import { aRow } from './memory-source.js';

it('tells what is new, what is different and what is gone, and of nothing else', () => {
  const differ = createDiffer();
  const see = (...rows: ReturnType<typeof aRow>[]) => {
    const { deliveries, removed } = differ.see(rows);
    return [deliveries.map(({ id }) => id), removed];
  };
  expect(see(aRow(1), aRow(2))).toEqual([['dlv_1', 'dlv_2'], []]);
  expect(see(aRow(1), aRow(2))).toEqual([[], []]);
  expect(see(aRow(1), aRow(2, { status: 500 }), aRow(3))).toEqual([['dlv_2', 'dlv_3'], []]);
  expect(see(aRow(3))).toEqual([[], ['dlv_1', 'dlv_2']]);
  expect([...differ.rows]).toEqual([aRow(3)]);
});
