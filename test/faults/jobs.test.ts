import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { createJobs, type Job } from 'service-webhooks/jobs';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { anEvent, inShort, SECRET } from '../support/deliveries.js';
import { buildProgram, type TestProcess } from '../support/processes.js';
import { isFull, SEED } from '../support/scale.js';
import { untilAcknowledged } from '../support/until-acknowledged.js';
import { findBackends } from './backends.js';
import type { Line, Said, Task } from './jobs-process.js';
import { openStore, type Place } from './places.js';
import { pick, type Random, randomFrom } from './random.js';

const [JOBS, KILLS] = isFull ? [2_000, 30] : [100, 3];
const [DROPPED, LATE] = [0.1, 0.1];
const LEASE_MS = 600;
/** Late webhooks come after this time; other jobs are overdue before it. */
const WITHIN_MS = 1_000;

const backends = await findBackends();
const program = await buildProgram('test/faults/jobs-process.ts');
const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-jobs-'));

const started = new Set<TestProcess>();

afterEach(async () => {
  for (const child of started) await child.kill();
  started.clear();
});

afterAll(async () => {
  program.remove();
  rmSync(directory, { recursive: true });
  for (const backend of backends) await backend.stop();
});

interface Running {
  child: TestProcess;
  url: string;
}

async function start(task: Task): Promise<Running> {
  const child = program.start(task);
  started.add(child);
  const { port } = (await child.next()) as Said;
  return { child, url: `http://127.0.0.1:${port}` };
}

async function attempt(url: string, body: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: sign({ body, secret: SECRET }), body });
  return inShort({ status: response.status, headers: {}, body: await response.text() });
}

/** Sends the webhook of a job until it is acknowledged, and returns the last answer. */
async function deliver(nextUrl: () => string, jobId: string): Promise<string> {
  const body = JSON.stringify(anEvent({ id: `evt_of_${jobId}`, jobId }));
  const answers = await untilAcknowledged(() => attempt(nextUrl(), body).catch(() => 'broken'));
  return answers.at(-1) ?? '';
}

type Fate = 'on time' | 'dropped' | 'late';

function fateOf(random: Random): Fate {
  const drawn = random();
  if (drawn < DROPPED) return 'dropped';
  return drawn < DROPPED + LATE ? 'late' : 'on time';
}

const count = <T>(all: readonly T[], matches: (one: T) => boolean) => all.filter(matches).length;

async function runJobs(place: Place) {
  const random = randomFrom(SEED);
  const log = join(directory, `${place.kind}-${crypto.randomUUID()}`);
  // The local DynamoDB is one process, which is slow where many ask it at once.
  const slower = place.kind === 'dynamodb' ? 10 : 1;
  const jobs = createJobs({ store: await openStore(place), pollMs: 100 * slower });
  const task: Task = { place, log, leaseMs: LEASE_MS * slower, jitterMs: 20 };
  const running = [await start(task), await start(task)];
  const urls = () => pick(random, running).url;
  const fates = new Map<string, Fate>();
  const answers: string[] = [];
  const ended = new Map<string, Promise<string>>();
  let sent = 0;

  async function lane(): Promise<void> {
    while (sent < JOBS) {
      sent += 1;
      const jobId = `job_${sent}`;
      const fate = fateOf(random);
      fates.set(jobId, fate);
      await jobs.expect(jobId, { within: WITHIN_MS });
      ended.set(
        jobId,
        jobs.ended(jobId).then(({ id }) => id),
      );
      if (fate === 'on time') answers.push(await deliver(urls, jobId));
    }
  }

  async function killer(): Promise<void> {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const goal = (JOBS * (kill + random())) / KILLS;
      await vi.waitUntil(() => sent >= Math.min(goal, JOBS), { interval: 1, timeout: 600_000 });
      const [victim] = running.splice(kill % 2, 1, await start(task));
      await victim?.child.kill();
    }
  }

  await Promise.all([killer(), ...Array.from({ length: 8 }, lane)]);
  const events = await Promise.all([...fates.keys()].map((jobId) => ended.get(jobId)));
  const lateIds = [...fates].filter(([, fate]) => fate === 'late').map(([jobId]) => jobId);
  for (const jobId of lateIds) answers.push(await deliver(urls, jobId));
  const found: (Job | undefined)[] = [];
  for (const jobId of fates.keys()) found.push(await jobs.find(jobId));
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return {
    fates,
    answers,
    events,
    found,
    lateIds,
    stats: await jobs.stats(),
    log: lines.map((line) => JSON.parse(line) as Line),
  };
}

describe.each(backends)('jobs over $name whose processes are killed at any instant', ({ place, name }) => {
  it(`every job ends exactly once, whether its webhook comes, comes late or never comes (seed ${SEED})`, async () => {
    const { fates, answers, events, found, lateIds, stats, log } = await runJobs(place);
    const ended = found as Job[];
    expect(ended.map((job) => job?.state)).toEqual(ended.map(() => 'completed'));
    expect(ended.map(({ event }) => event?.id)).toEqual(events);
    expect(stats).toMatchObject({ expected: 0, overdue: 0 });

    const runs = new Map<string, Line[]>();
    for (const line of log) runs.set(line.jobId, [...(runs.get(line.jobId) ?? []), line]);
    const twice: Line[][] = [];
    for (const jobId of fates.keys()) {
      const own = runs.get(jobId) ?? [];
      const begun = count(own, ({ what }) => what === 'begun');
      const handled = count(own, ({ what }) => what === 'handled');
      expect({ jobId, begun, own, isRight: begun >= 1 && handled <= 1 }).toMatchObject({ isRight: true });
      if (begun > 1) twice.push(own);
    }
    const webhooks = lateIds.filter((jobId) => ended.some((job) => job.jobId === jobId && job.reconciled));
    expect(count(answers, (answer) => answer === '200 duplicate')).toBeGreaterThanOrEqual(webhooks.length);
    const row = {
      jobs: fates.size,
      kills: KILLS,
      dropped: count([...fates.values()], (fate) => fate === 'dropped'),
      late: lateIds.length,
      'ended by the webhook': count(ended, ({ reconciled }) => reconciled === false),
      'ended by reconciliation': count(ended, ({ reconciled }) => reconciled === true),
      'ended twice': 0,
      'handlers that a kill interrupted': twice.length,
    };
    console.log(
      `${name}: ${Object.entries(row)
        .map(([what, number]) => `${number} ${what}`)
        .join(', ')}`,
    );
  });
});
