import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { pick, type Random, randomFrom } from '../faults/random.js';
import { openSqlite } from '../integration/sqlite.js';
import { libraries } from '../integration/sqlite-libraries.js';
import { anEvent, SECRET } from '../support/deliveries.js';
import { canStartNats, startNats } from '../support/nats.js';
import { PATIENTLY } from '../support/patiently.js';
import { startPrivatePostgres } from '../support/postgres.js';
import { buildProgram, type TestProcess } from '../support/processes.js';
import { startPrivateRabbitmq } from '../support/rabbitmq.js';
import { canStartRedis, DURABLE, startRedis } from '../support/redis.js';
import { EVENTS, isFull, SEED } from '../support/scale.js';
import { openQueue, type QueuePlace } from './open-queue.js';

/** With fewer receivers and workers than a deployment, since the machine of a test has few cores. */
const [RECEIVERS, WORKERS, KILLS, LANES] = isFull ? [4, 3, 40, 24] : [2, 2, 4, 8];

const driver = libraries[0]?.[1];
const folder = mkdtempSync(join(tmpdir(), 'service-webhooks-queues-'));
const redis = canStartRedis() ? await startRedis(...DURABLE) : undefined;
const nats = canStartNats() ? await startNats() : undefined;
const rabbitmq = await startPrivateRabbitmq();
const postgres = await startPrivatePostgres();
const program = await buildProgram('test/queue/queue-process.ts');
const running = new Set<TestProcess>();

afterEach(async () => {
  for (const one of running) await one.kill();
  running.clear();
});
afterAll(async () => {
  program.remove();
  await redis?.stop();
  await nats?.stop();
  await rabbitmq?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true });
});

interface Setup {
  place: QueuePlace;
  /** Ends the engine at any instant, and starts it again on the same data. The embedded one ends with its processes. */
  crash?: () => Promise<void>;
}

const name = 'service-webhooks-faults';
const setups: Setup[] = [];
if (driver) setups.push({ place: { engine: 'sqlite', name, driver, file: join(folder, 'queue.db') } });
if (redis) setups.push({ place: { engine: 'bullmq', name, url: redis.url }, crash: () => redis.crash() });
if (rabbitmq) setups.push({ place: { engine: 'rabbitmq', name, url: rabbitmq.url }, crash: () => rabbitmq.crash() });
if (nats) setups.push({ place: { engine: 'nats', name, url: nats.url }, crash: () => nats.crash() });
if (postgres) {
  for (const engine of ['pg-boss', 'graphile-worker'] as const) {
    const schema = `faults_${engine.replace('-', '_')}`;
    setups.push({ place: { engine, name, url: postgres.url, schema }, crash: () => postgres.crash() });
  }
}

describe.each(setups)('processes on $place.engine that are killed at any instant', (setup) => {
  const { crash } = setup;
  const bodies = driver && { driver, file: join(folder, `${setup.place.engine}.bodies.db`) };
  const place = { ...setup.place, overflow: bodies };

  it.skipIf(driver === undefined)(
    `no acknowledged event is lost, and an inbox makes each effect once (seed ${SEED})`,
    async () => {
      const random = randomFrom(SEED);
      const effects = join(folder, `${place.engine}.effects`);
      const inbox = { driver: driver as NonNullable<typeof driver>, file: join(folder, `${place.engine}.inbox.db`) };
      writeFileSync(effects, '');
      const handle = openSqlite(inbox.driver, inbox.file, 5_000);
      handle.exec('PRAGMA journal_mode = WAL; CREATE TABLE effects (id TEXT)');
      const operator = await openQueue(place, { workersDie: true });
      await operator.queue.init?.();

      const ports = new Map<TestProcess, number>();
      const startReceiver = async () => {
        const receiver = program.start({ role: 'receiver', place });
        running.add(receiver);
        ports.set(receiver, ((await receiver.next()) as { port: number }).port);
        return receiver;
      };
      const startWorker = async () => {
        const worker = program.start({ role: 'worker', place, effects, inbox });
        running.add(worker);
        await worker.next();
        return worker;
      };
      const receivers = await Promise.all(Array.from({ length: RECEIVERS }, startReceiver));
      const workers = await Promise.all(Array.from({ length: WORKERS }, startWorker));

      const attempts = shuffled(random, eventsWithDuplicates(random));
      const total = attempts.length;
      const acknowledged = new Set<string>();
      const handled = () => new Set(readFileSync(effects, 'utf8').split('\n').slice(0, -1));
      const letters = () => operator.queue.deadLetters({ limit: EVENTS });
      /**
       * The handled events whose jobs are dead letters without a body: a worker died between the deletion of the body and the end of
       * the job. No further attempt at such an event is accepted.
       */
      const withoutBody = async () => {
        const [found, done] = [await letters(), handled()];
        const ids = found.flatMap(({ unopened }) => (unopened ? [eventIdIn(unopened.key)] : []));
        return new Set(ids.filter((id) => done.has(id)));
      };
      const answers = new Map<string, number>();
      const inLanes = randomFrom(SEED + 1); // its use depends on how fast the answers are
      const lane = async () => {
        for (let event = attempts.pop(); event; event = attempts.pop()) {
          const id = String(event['id']);
          const attempt = async () => {
            const answer = await attemptOf(ports.get(pick(inLanes, receivers)) ?? 0, event);
            answers.set(answer, (answers.get(answer) ?? 0) + 1);
            if (answer.startsWith('503') && handled().has(id) && (await withoutBody()).has(id)) return;
            expect(answer).toMatch(/^2/);
            acknowledged.add(id);
          };
          await vi.waitFor(attempt, { timeout: 300_000, interval: 10 });
        }
      };
      const killThem = async () => {
        for (let kill = 0; kill < KILLS; kill += 1) {
          const goal = Math.min(total - 1, (total * (kill + random())) / KILLS);
          await vi.waitUntil(() => total - attempts.length >= goal, { interval: 1, timeout: 600_000 });
          if (crash && kill === KILLS >> 1) await crash();
          const [list, start] = kill % 2 === 0 ? [workers, startWorker] : [receivers, startReceiver];
          const index = Math.floor(random() * list.length);
          const victim = list[index] as TestProcess;
          running.delete(victim);
          await victim.kill();
          list[index] = await start();
        }
      };
      await Promise.all([killThem(), ...Array.from({ length: LANES }, lane)]);

      await vi.waitUntil(async () => (await operator.queue.stats().catch(() => undefined))?.depth === 0, {
        interval: 50,
        timeout: 300_000,
      });
      const dead = async () => {
        const [found, bodiless] = [await letters(), await withoutBody()];
        const ids = found.map(({ delivery, unopened }) =>
          unopened ? eventIdIn(unopened.key) : idOf(delivery?.body ?? ''),
        );
        return new Set(ids.filter((id) => !bodiless.has(id)));
      };
      /** The bodies that belong to a dead letter, and those that are kept. A worker may have died before it deleted one. */
      const largeDead = async () => (await letters()).filter(({ delivery }) => (delivery?.body.length ?? 0) > LARGE);
      const kept = openSqlite(inbox.driver, bodies?.file ?? '', 5_000);
      const keptCount = () =>
        Number((kept.prepare('SELECT count(*) AS n FROM webhook_overflow').get() as { n: number }).n);
      const lost = async () => {
        const [done, deadIds] = [handled(), await dead()];
        return [...acknowledged].filter((id) => !done.has(id) && !deadIds.has(id));
      };
      const rowCount = () => Number((handle.prepare('SELECT count(*) AS n FROM effects').get() as { n: number }).n);
      const isOver = async () => (await lost()).length === 0 && rowCount() === EVENTS - (await dead()).size;
      // RabbitMQ does not count what a worker holds, so the effects are waited for.
      await vi.waitUntil(isOver, PATIENTLY).catch(() => {});

      expect(new Set([...acknowledged, ...(await withoutBody())]).size).toBe(EVENTS);
      expect(await lost()).toEqual([]);
      const deadIds = await dead();
      expect(deadIds.size).toBeGreaterThan(0);
      const rows = rowCount();
      const ids = handle.prepare('SELECT count(DISTINCT id) AS n FROM effects').get() as { n: number };
      expect({ rows, ids: Number(ids.n) }).toEqual({ rows: EVENTS - deadIds.size, ids: EVENTS - deadIds.size });
      // A receiver that is killed may leave the bodies of the puts that it was in, and every second victim is one.
      const left = keptCount() - (await largeDead()).length;
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left).toBeLessThanOrEqual((KILLS / 2) * LANES);
      const runs = readFileSync(effects, 'utf8').trim().split('\n').length;
      const broken = [...answers].filter(([answer]) => !answer.startsWith('2'));
      console.info(
        `${place.engine}: ${EVENTS} events, ${total} deliveries, ${KILLS} kills, ${runs - rows} effects twice, ${left} bodies left`,
        broken,
      );
      await operator.close();
      handle.close();
      kept.close();
    },
  );
});

type Event = Record<string, unknown>;

const LARGE = 260_000;

/** One event in 20 is dead, one in 10 fails at first; one in three is delivered more than once. */
function eventsWithDuplicates(random: Random): Event[] {
  return Array.from({ length: EVENTS }, (_, i) => {
    const jobId = i % 20 === 0 ? 'dead' : i % 10 === 1 ? 'once' : null;
    // One event in seven is too large for a job.
    const data = i % 7 === 0 ? { text: 'x'.repeat(LARGE) } : {};
    const event = anEvent({ id: `evt_${crypto.randomUUID()}`, jobId, data });
    return Array.from({ length: random() < 0.33 ? 2 + Math.floor(random() * 2) : 1 }, () => event);
  }).flat();
}

function shuffled<T>(random: Random, list: T[]): T[] {
  return list
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

async function attemptOf(port: number, event: Event): Promise<string> {
  const body = JSON.stringify(event);
  const headers = sign({ body, secret: SECRET });
  try {
    const signal = AbortSignal.timeout(20_000);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body, signal });
    return `${response.status} ${(await response.text()).slice(0, 80)}`;
  } catch {
    return 'broken';
  }
}

const eventIdIn = (key: string) => key.slice(key.indexOf(':') + 1);

function idOf(body: string): string {
  return body === '' ? '' : JSON.parse(atob(body)).id;
}
