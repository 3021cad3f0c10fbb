import { expect, it } from 'vitest';
import { roundsOf } from '../../src/page/front/rounds.js';
import type { AttemptRow, DeliveryDetails, DeliveryRow } from '../../src/page/page-source.js';
import { aRow } from './memory-source.js';

const WAITS = [30_000, 120_000, 600_000];

function details(delivery: Partial<DeliveryRow>, attempts: Partial<AttemptRow>[]): DeliveryDetails {
  const made = attempts.map((attempt, n): AttemptRow => {
    const plain = {
      id: String(n),
      number: n + 1,
      redelivery: 0,
      kind: 'attempt' as const,
      at: n,
      endedAt: n,
      faults: [],
    };
    return { ...plain, acknowledged: false, ...attempt };
  });
  return { delivery: aRow(1, delivery), attempts: made, waits: WAITS, offers: [] };
}

const states = (given: DeliveryDetails) => roundsOf(given, 1).map(({ stations }) => stations.map(({ state }) => state));

it('an attempt is in its place of the schedule, and those to come are due one after the other', () => {
  const waiting = details({ state: 'waiting', attempts: 1, nextAt: 1_000 }, [{}]);
  expect(states(waiting)).toEqual([['failed', 'next', 'later', 'later']]);
  const due = roundsOf(waiting, 1).map(({ stations }) => stations.map(({ dueAt }) => dueAt));
  expect(due).toEqual([[undefined, 1_000, 121_000, 721_000]]);
});

it('waits that pass faster are shorter by the clock', () => {
  const [round] = roundsOf(details({ state: 'waiting', attempts: 1, nextAt: 1_000 }, [{}]), 100);
  expect(round?.stations.map(({ dueAt }) => dueAt)).toEqual([undefined, 1_000, 2_200, 8_200]);
});

it('what is delivered needs no more attempts, and what is dead gets none', () => {
  expect(states(details({ state: 'delivered', attempts: 2 }, [{}, { acknowledged: true }]))).toEqual([
    ['failed', 'acknowledged', 'not needed', 'not needed'],
  ]);
  expect(states(details({ state: 'dead', attempts: 4 }, [{}, {}, {}, {}]))).toEqual([
    ['failed', 'failed', 'failed', 'failed'],
  ]);
});

it('an attempt that has no answer yet is on its way, and nothing is next', () => {
  expect(states(details({ state: 'sending', attempts: 2 }, [{}]))).toEqual([['failed', 'sending', 'later', 'later']]);
});

it('a redelivery is another round, and attempts that are not kept have their place all the same', () => {
  const again = details({ state: 'waiting', attempts: 1, redeliveries: 1 }, [
    { number: 4 },
    { number: 1, redelivery: 1 },
  ]);
  expect(states(again)).toEqual([
    ['not kept', 'not kept', 'not kept', 'failed'],
    ['failed', 'next', 'later', 'later'],
  ]);
});

it('duplicates and replays are beside the schedule', () => {
  const twice = details({ state: 'sending', attempts: 1 }, [{ kind: 'duplicate' }, { kind: 'replay', number: 1 }]);
  expect(states(twice)).toEqual([['sending', 'later', 'later', 'later']]);
});

it('a test has one attempt', () => {
  expect(states(details({ state: 'dead', attempts: 1, test: true }, [{}]))).toEqual([['failed']]);
});
