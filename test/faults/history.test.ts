import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { memoryStore } from 'service-webhooks';
import { afterAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../support/processes.js';
import { OPERATIONS, SEED } from '../support/scale.js';
import { startProxyOf } from '../support/tcp-proxy.js';
import { type Backend, findBackends } from './backends.js';
import { fromLines, type Operation } from './history.js';
import { checkHistory, describeViolation } from './history-checker.js';
import type { Task } from './history-process.js';
import type { Place } from './places.js';
import { randomFrom } from './random.js';
import { simulate } from './simulation.js';

const [PROCESSES, CLIENTS_EACH, KILLED] = [4, 2, 3];
const backends = await findBackends();
const program = await buildProgram('test/faults/history-process.ts');
const allFiles = mkdtempSync(join(tmpdir(), 'service-webhooks-history-'));

afterAll(async () => {
  program.remove();
  rmSync(allFiles, { recursive: true });
  for (const backend of backends) await backend.stop();
});

function expectNoViolation(history: readonly Operation[], operations = OPERATIONS): void {
  expect(history.length).toBeGreaterThanOrEqual(operations);
  expect(checkHistory(history).map(describeViolation)).toEqual([]);
  // It is a history that says something.
  const answers = new Set(
    history.map(({ kind, answer }) => `${kind} ${typeof answer === 'object' ? answer.status : answer}`),
  );
  expect([...answers]).toEqual(
    expect.arrayContaining([
      'claim acquired',
      'claim in_progress',
      'claim completed',
      'extend lost',
      'release ok',
      'complete ok',
    ]),
  );
}

/** The operations on a place. MySQL has four histories, and the local DynamoDB is one process, whose requests pause. */
const SHARES: { readonly [Kind in Place['kind']]?: number } = { mysql: 0.25, dynamodb: 0.25 };
const operationsOn = ({ kind }: Place) =>
  Math.ceil(OPERATIONS * (process.env['FAULTS_OPERATIONS'] === undefined ? (SHARES[kind] ?? 1) : 1));

/** Of clients in several processes, some of which are killed. */
async function historyOn(place: Place, disturbance?: Disturbance): Promise<Operation[]> {
  const directory = mkdtempSync(join(allFiles, 'history-'));
  const fileOf = (name: string) => join(directory, name);
  const clients = CLIENTS_EACH;
  const tasks = Array.from({ length: PROCESSES + KILLED }, (_, i): Extract<Task, { clients: number }> => {
    const [name, seed] = [String.fromCharCode(97 + i), SEED + 100 * i];
    const task = {
      name,
      place: disturbance?.place ?? place,
      clients,
      operations: Math.ceil(operationsOn(place) / PROCESSES),
      seed,
      file: fileOf(name),
    };
    return i < PROCESSES ? task : { ...task, diesAfter: 100 * (i - PROCESSES + 1) + 1 };
  });
  const processes = tasks.map((task) => program.start(task));
  for (const one of processes) expect(await one.next()).toBe('ready');
  for (const one of processes) one.go();
  const work = Promise.all(
    processes.map(async (one, i) => {
      if (i < PROCESSES) expect(await one.next()).toBe('done');
      else await expect(one.next()).rejects.toThrow('ended without a word');
    }),
  );
  await disturbance?.during(work);
  await work;
  const files = tasks.map(({ file }) => file);
  const last = fileOf('last');
  expect(await program.start({ name: 'last', place, file: last, sweeps: files } satisfies Task).next()).toBe('done');
  return [...files, last].flatMap((file) => fromLines(readFileSync(file, 'utf8')));
}

/** A place, under its name, and what may disturb it. */
interface Disturbed {
  name: string;
  place: Place;
  disturb: Backend['disturb'];
}

/** The transactions of MySQL differ by their isolation, which is a setting of the server. */
const LEVELS = ['READ COMMITTED', 'REPEATABLE READ'];
const places = backends.flatMap(({ name, place, disturb }): Disturbed[] =>
  place.kind === 'mysql'
    ? LEVELS.map((isolation) => ({ name: `${name} (${isolation})`, place: { ...place, isolation }, disturb }))
    : [{ name, place, disturb }],
);

/** Disturbs the way of clients to their server while they work. */
interface Disturbance {
  /** Where the clients find the store. */
  place: Place;
  during(work: Promise<unknown>): Promise<void>;
}

/** A proxy before the server of a place, which pauses and cuts its connections again and again. */
async function unsteady(place: Extract<Place, { kind: 'mysql' }>): Promise<Disturbance & { stop(): Promise<void> }> {
  const { proxy, url } = await startProxyOf(place.url);
  const random = randomFrom(SEED);
  return {
    place: { ...place, url },
    async during(work) {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      work.then(over, over);
      while (!isOver) {
        await setTimeout(random() * 40);
        proxy.pause();
        await setTimeout(random() * 10);
        proxy.resume();
        if (random() < 0.05) proxy.cut();
      }
    },
    stop: () => proxy.stop(),
  };
}

/**
 * What is committed has to outlive the process, not the machine. A client that sends a request again may make two operations
 * of one, so a request whose connection was cut is an operation without an answer.
 */
function forHistory(place: Place): Place {
  if (place.kind === 'dynamodb') return { ...place, attempts: 1 };
  return place.kind === 'postgres' ? { ...place, settings: '-c synchronous_commit=off' } : place;
}

describe(`a history of ${OPERATIONS} operations (seed ${SEED})`, () => {
  it('every answer of memoryStore is one that a correct store can give', async () => {
    expectNoViolation(await simulate((now) => memoryStore({ now }), { seed: SEED, operations: OPERATIONS }));
  });

  it.each(places)(
    'every answer of $name is one that a correct store can give, though processes are killed',
    async ({ place, disturb }) => {
      disturb?.(randomFrom(SEED));
      expectNoViolation(await historyOn(forHistory(place)), operationsOn(place));
    },
  );

  it.each(places.filter(({ place }) => place.kind === 'mysql'))(
    'every answer of $name is one that a correct store can give, though connections pause and are cut',
    async ({ place }) => {
      const through = await unsteady(place as Extract<Place, { kind: 'mysql' }>);
      expectNoViolation(await historyOn(place, through).finally(through.stop), operationsOn(place));
    },
  );
});
