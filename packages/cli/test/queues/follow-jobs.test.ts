import type { FollowedState } from 'service-webhooks/queue';
import { describe, expect, it } from 'vitest';
import { type FollowOptions, followJobs } from '../../src/queues/follow-jobs.js';

type Answer = FollowedState | Error;

/** Follows jobs that answer one look after the other as they are told, the last answer from then on. */
async function follow(jobs: Record<string, Answer[]>, options: Partial<FollowOptions<string>> = {}) {
  let clock = 0;
  const stop = new AbortController();
  const pauses: number[] = [];
  const asked: string[] = [];
  const ended: string[] = [];
  const closed: string[] = [];
  let [running, most, looks] = [0, 0, 0];
  const followed = followJobs<string>({
    onEnded: (letter, state) => void ended.push(`${letter} ${state}`),
    async afterLook() {
      looks += 1;
      if (looks === 1_000) stop.abort();
    },
    signal: stop.signal,
    now: () => clock,
    async pause(ms) {
      clock += ms;
      pauses.push(Math.round(ms));
    },
    ...options,
  });
  for (const [letter, answers] of Object.entries(jobs)) {
    followed.add(letter, {
      async state() {
        asked.push(letter);
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        if (answer instanceof Error) throw answer;
        return answer ?? 'done';
      },
      close: async () => void closed.push(letter),
    });
  }
  await followed.untilEnded(Promise.resolve());
  const pending = [...followed.pending].map(([letter, { problem }]) => [letter, problem]);
  return { pauses, asked, ended, closed, most, pending, looks };
}

const away = new Error('no answer');

describe('jobs of retried dead letters that are followed', () => {
  it('each job is reported once when it ends, and closed', async () => {
    const { ended, closed, pending } = await follow({ a: ['pending', 'done'], b: ['dead'] });
    expect({ ended, closed, pending }).toEqual({ ended: ['b dead', 'a done'], closed: ['b', 'a'], pending: [] });
  });

  it('the pauses between two looks grow up to 2 s', async () => {
    const { pauses } = await follow({ a: [...Array<Answer>(15).fill('pending'), 'done'] });
    expect(pauses.slice(0, 4)).toEqual([200, 260, 338, 439]);
    expect(pauses.at(-1)).toBe(2_000);
  });

  it('ten jobs at a time are asked for their state', async () => {
    const jobs = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`job${n}`, ['done'] as Answer[]]));
    const { most, asked, looks } = await follow(jobs);
    expect({ most, asked: asked.length, looks }).toEqual({ most: 10, asked: 25, looks: 1 });
  });

  it('a job whose state cannot be read is asked again, and the others are reported', async () => {
    expect((await follow({ a: [away, away, 'done'], b: ['done'] })).ended).toEqual(['b done', 'a done']);
  });

  it('jobs that do not answer do not keep the others from being asked', async () => {
    const silent = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`silent${n}`, [away] as Answer[]]));
    const { ended, pending } = await follow({ ...silent, last: ['done'] }, { limitMs: 5_000 });
    expect(ended).toEqual(['last done']);
    expect(pending).toHaveLength(10);
  });

  it('when the time is over, the others are pending, with the reason where a state could not be read', async () => {
    const { ended, pending, closed } = await follow({ a: ['pending'], b: [away], c: ['done'] }, { limitMs: 60_000 });
    expect(ended).toEqual(['c done']);
    expect(pending.toSorted()).toEqual([
      ['a', undefined],
      ['b', 'no answer'],
    ]);
    expect(closed.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('a time of 0 is over after one look', async () => {
    const { looks, ended } = await follow({ a: ['pending'], b: ['done'] }, { limitMs: 0 });
    expect([looks, ended]).toEqual([1, ['b done']]);
  });

  it('an engine that does not answer in so many looks is no longer asked', async () => {
    const { looks, pending } = await follow({ a: [away], b: [away] }, { mostFailures: 4 });
    expect([looks, pending.length]).toEqual([4, 2]);
  });

  it('an aborted signal ends the following, and the jobs are closed', async () => {
    const { looks, closed } = await follow({ a: ['pending'] });
    expect([looks, closed]).toEqual([1_000, ['a']]);
  });
});
