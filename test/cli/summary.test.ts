import { describe, expect, it } from 'vitest';
import { summaryOf } from '../../src/cli/summary.js';
import type { SendResult } from '../../src/http/deliver.js';

const answer = (ms: number, status = 200): SendResult => ({ status, ms, headers: {}, body: '' });

describe('the summary of many deliveries', () => {
  it('the summary of many deliveries counts the answers, and what was not answered', () => {
    const all: SendResult[] = [answer(30), answer(10), { problem: 'nothing listens there', ms: 5 }, answer(20, 500)];
    expect(summaryOf(all, 1_234.4)).toEqual([
      {
        ...{ kind: 'summary', sent: 4, acknowledged: 2, seconds: 1.234 },
        answers: { 200: 2, 500: 1, 'nothing listens there': 1 },
        ms: { median: 20, p99: 30, most: 30 },
      },
      [
        ['bad', '2 of 4 acknowledged'],
        ['faint', 'in 1.234 s'],
      ],
      ['  200', '2 times'],
      ['  500', '1 times'],
      ['  nothing listens there', '1 times'],
      [['faint', '  20 ms median, 30 ms for 99 %, 30 ms at most']],
    ]);
  });

  it('the summary of many deliveries is good where all are acknowledged', () => {
    const [, line] = summaryOf([answer(1), answer(2)], 1_000);
    expect(line).toEqual([
      ['good', '2 of 2 acknowledged'],
      ['faint', 'in 1 s'],
    ]);
  });

  it('the summary of many deliveries tells the slowest from the slowest but one in a hundred', () => {
    const all = Array.from({ length: 200 }, (_, index) => answer(200 - index));
    expect(summaryOf(all, 0)[0]).toMatchObject({ ms: { median: 101, p99: 199, most: 200 } });
  });

  it('the summary of many deliveries has no times where nothing was sent', () => {
    expect(summaryOf([], 0)[0]).toMatchObject({ sent: 0, ms: { median: 0, p99: 0, most: 0 } });
  });
});
