import { expect, it } from 'vitest';
import { roundsOf } from '../../../src/page/front/rounds.js';
import type { AttemptRow, DeliveryDetails, DeliveryRow } from '../../../src/page/page-source.js';
import { aRow } from '../memory-source.js';

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

it('the schedule has each attempt in its place, and then the next ones with their times', () => {
  const waiting = details({ state: 'waiting', attempts: 1, nextAt: 1_000 }, [{}]);
  expect(states(waiting)).toEqual([['failed', 'next', 'later', 'later']]);
  const due = roundsOf(waiting, 1).map(({ stations }) => stations.map(({ dueAt }) => dueAt));
  expect(due).toEqual([[undefined, 1_000, 121_000, 721_000]]);
});

it('the schedule at speed 100 has waits of a hundredth', () => {
  const [round] = roundsOf(details({ state: 'waiting', attempts: 1, nextAt: 1_000 }, [{}]), 100);
  expect(round?.stations.map(({ dueAt }) => dueAt)).toEqual([undefined, 1_000, 2_200, 8_200]);
});

it('the schedule has waits of full length where the clock stands', () => {
  const waiting = details({ state: 'waiting', attempts: 0, nextAt: 1_000 }, []);
  expect(roundsOf(waiting, 0)[0]?.stations).toEqual([
    { number: 1, waitMs: 0, state: 'next', dueAt: 1_000 },
    { number: 2, waitMs: 30_000, state: 'later', dueAt: 31_000 },
    { number: 3, waitMs: 120_000, state: 'later', dueAt: 151_000 },
    { number: 4, waitMs: 600_000, state: 'later', dueAt: 751_000 },
  ]);
});

it('a delivered or dead delivery has no further attempts in its schedule', () => {
  expect(states(details({ state: 'delivered', attempts: 2 }, [{}, { acknowledged: true }]))).toEqual([
    ['failed', 'acknowledged'],
  ]);
  expect(states(details({ state: 'dead', attempts: 4 }, [{}, {}, {}, {}]))).toEqual([
    ['failed', 'failed', 'failed', 'failed'],
  ]);
  expect(states(details({ state: 'dead', attempts: 1 }, [{}]))).toEqual([['failed']]);
});

it('an attempt without an answer is on its way, and nothing is next', () => {
  const sending = details({ state: 'sending', attempts: 2 }, [{}]);
  expect(states(sending)).toEqual([['failed', 'sending', 'later', 'later']]);
  const due = roundsOf(sending, 1).flatMap(({ stations }) => stations.map(({ dueAt }) => dueAt));
  expect(due).toEqual(Array(4).fill(undefined));
});

it('a redelivery is another round of the schedule, and dropped attempts keep their places', () => {
  const again = details({ state: 'waiting', attempts: 1, redeliveries: 1 }, [
    { number: 4 },
    { number: 1, redelivery: 1 },
  ]);
  expect(states(again)).toEqual([
    ['not kept', 'not kept', 'not kept', 'failed'],
    ['failed', 'next', 'later', 'later'],
  ]);
});

it('dropped attempts of the same round keep their places in the schedule', () => {
  expect(states(details({ state: 'waiting', attempts: 3 }, [{ number: 3 }]))).toEqual([
    ['not kept', 'not kept', 'failed', 'next'],
  ]);
  expect(states(details({ state: 'delivered', attempts: 1 }, []))).toEqual([['not kept']]);
});

it('the schedule has a round for each redelivery, and the first one', () => {
  const again = details({ redeliveries: 2 }, []);
  expect(roundsOf(again, 1).map(({ redelivery }) => redelivery)).toEqual([0, 1, 2]);
});

it('duplicates and replays are outside the schedule', () => {
  const twice = details({ state: 'sending', attempts: 1 }, [{ kind: 'duplicate' }, { kind: 'replay', number: 1 }]);
  expect(states(twice)).toEqual([['sending', 'later', 'later', 'later']]);
});

it('the schedule of a test delivery has one attempt', () => {
  expect(states(details({ state: 'dead', attempts: 1, test: true }, [{}]))).toEqual([['failed']]);
});

it('the next attempt at a paused endpoint is held, and has no time', () => {
  const [round] = roundsOf(details({ state: 'waiting', attempts: 1, nextAt: 1_000 }, [{}]), 1, true);
  expect(round?.stations[1]).toEqual({ number: 2, waitMs: 30_000, state: 'held' });
});

it('the next attempt of a delivery that dev has not sent is up to its sender', () => {
  expect(states(details({ state: 'failed', attempts: 1 }, [{}]))).toEqual([
    ['failed', 'up to the sender', 'later', 'later'],
  ]);
});
