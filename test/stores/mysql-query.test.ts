import { describe, expect, it } from 'vitest';
import { hasErrorNumber, replyOf } from '../../src/stores/mysql/query.js';

const BUSY = { errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT' };

/** The error of a driver within this many others. */
function wrapped(times: number): object {
  let error: object = BUSY;
  for (let i = 0; i < times; i += 1) error = { cause: error };
  return error;
}

describe('the number of MySQL in an error', () => {
  it.each<[string, unknown]>([
    ['errno', BUSY],
    ['code, as a text', { code: '1205' }],
    ['originalCode', { originalCode: '1205' }],
    ...['cause', 'original', 'meta', 'driverAdapterError'].map((field): [string, unknown] => [
      field,
      { [field]: BUSY },
    ]),
    ['cause, five times over', wrapped(5)],
  ])('it is found in the field %s', (_, error) => {
    expect(hasErrorNumber(error, 1213, 1205)).toBe(true);
  });

  it('it is not found in six causes, nor in an error that is its own cause', () => {
    const circular: { cause?: unknown } = {};
    circular.cause = circular;
    for (const error of [wrapped(6), circular, { errno: 1213 }, { code: 'ER_LOCK_WAIT_TIMEOUT' }, null, '1205']) {
      expect(hasErrorNumber(error, 1205)).toBe(false);
    }
  });
});

describe('the reply of a driver', () => {
  it('rows are texts by position, from bytes, numbers and texts', () => {
    const rows = [{ a: Buffer.from('é'), b: 1n, c: null }, ['x', 2, undefined]];
    expect(replyOf(rows)).toMatchObject({
      rows: [
        ['é', '1', null],
        ['x', '2', null],
      ],
    });
  });

  it.each([
    [
      { insertId: '5', affectedRows: 2, serverStatus: 2 },
      { insertId: 5, affectedRows: 2, isAutocommit: true },
    ],
    [
      { insertId: 0, affectedRows: 0, serverStatus: 1 },
      { insertId: 0, affectedRows: 0, isAutocommit: false },
    ],
    [undefined, { insertId: 0, affectedRows: 0, isAutocommit: false }],
  ])('the counts of %j are read, and what is not said to be committed is not', (result, reply) => {
    expect(replyOf(result)).toEqual({ rows: [], ...reply });
  });
});
