import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from 'service-webhooks';
import { afterAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../support/processes.js';
import { OPERATIONS, SEED } from '../support/scale.js';
import { findBackends } from './backends.js';
import { fromLines, type Operation } from './history.js';
import { checkHistory, describeViolation } from './history-checker.js';
import type { Task } from './history-process.js';
import type { Place } from './places.js';
import { randomFrom } from './random.js';
import { simulate } from './simulation.js';

const [PROCESSES, CLIENTS_EACH, KILLED] = [4, 2, 3];
const backends = await findBackends();
const program = await buildProgram('test/faults/history-process.ts');
const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-history-'));

afterAll(async () => {
  program.remove();
  rmSync(directory, { recursive: true });
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

/** The operations on a place. The local DynamoDB is one process, whose requests pause. */
const operationsOn = ({ kind }: Place) => (kind === 'dynamodb' ? Math.ceil(OPERATIONS * 0.65) : OPERATIONS);

/** Of clients in several processes, some of which are killed. */
async function historyOn(place: Place): Promise<Operation[]> {
  const clients = CLIENTS_EACH;
  const tasks = Array.from({ length: PROCESSES + KILLED }, (_, i): Extract<Task, { clients: number }> => {
    const [name, seed] = [String.fromCharCode(97 + i), SEED + 100 * i];
    const task = {
      name,
      place,
      clients,
      operations: Math.ceil(operationsOn(place) / PROCESSES),
      seed,
      file: fileOf(place, name),
    };
    return i < PROCESSES ? task : { ...task, diesAfter: 100 * (i - PROCESSES + 1) + 1 };
  });
  const processes = tasks.map((task) => program.start(task));
  for (const one of processes) expect(await one.next()).toBe('ready');
  for (const one of processes) one.go();
  await Promise.all(
    processes.map(async (one, i) => {
      if (i < PROCESSES) expect(await one.next()).toBe('done');
      else await expect(one.next()).rejects.toThrow('ended without a word');
    }),
  );
  const files = tasks.map(({ file }) => file);
  const last = fileOf(place, 'last');
  expect(await program.start({ name: 'last', place, file: last, sweeps: files } satisfies Task).next()).toBe('done');
  return [...files, last].flatMap((file) => fromLines(readFileSync(file, 'utf8')));
}

function fileOf(place: Place, name: string): string {
  return join(directory, `${place.kind}-${name}`);
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

  it.each(backends)(
    'every answer of $name is one that a correct store can give, though processes are killed',
    async ({ place, disturb }) => {
      disturb?.(randomFrom(SEED));
      expectNoViolation(await historyOn(forHistory(place)), operationsOn(place));
    },
  );
});
