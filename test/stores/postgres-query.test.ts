import { describe, expect, it } from 'vitest';
import { hasSqlState } from '../../src/stores/postgres/query.js';

const BUSY = { code: '55P03' };

/** The error of a driver within this many others. */
function wrapped(times: number): object {
  let error: object = BUSY;
  for (let i = 0; i < times; i += 1) error = { cause: error };
  return error;
}

describe('the code of PostgreSQL in an error', () => {
  it.each<[string, unknown]>([
    ['code', BUSY],
    ['originalCode', { originalCode: '55P03' }],
    ...['cause', 'original', 'meta', 'driverAdapterError'].map((field): [string, unknown] => [
      field,
      { [field]: BUSY },
    ]),
    ['cause, five times over', wrapped(5)],
  ])('it is found in the field %s', (_, error) => {
    expect(hasSqlState(error, '40001', '55P03')).toBe(true);
  });

  it('it is not found in six causes, nor in an error that is its own cause', () => {
    const circular: { cause?: unknown } = {};
    circular.cause = circular;
    for (const error of [wrapped(6), circular, { code: '40001' }, null, '55P03']) {
      expect(hasSqlState(error, '55P03')).toBe(false);
    }
  });
});
