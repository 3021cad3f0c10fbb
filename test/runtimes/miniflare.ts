import { fileURLToPath, pathToFileURL } from 'node:url';
import { fileOf } from '../integration/file-of.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where Miniflare is; undefined where it is not installed. */
export const miniflare = fileOf('miniflare', 'npm run test:runtimes', here('node_modules/miniflare/dist/src/index.js'));

/** What is used of it. Its types are not there where it is not. */
export interface Miniflare {
  ready: Promise<URL>;
  getWorker(name: string): Promise<{
    fetch(url: string, init?: RequestInit): Promise<Response>;
    scheduled(event: { cron: string }): Promise<{ outcome: string }>;
  }>;
  dispose(): Promise<void>;
}

/**
 * Workers that share a D1 database and Durable Objects, with their data in a folder: two with the receivers, of which
 * one has the objects, and one with the store suite, whose objects run in a Worker with a clock of its own. Beside them
 * the recipes of the documentation.
 */
export async function startWorkers(programs: string, data: string, secret: string): Promise<Miniflare> {
  const worker = (name: string, program: string) => ({
    name,
    modules: [{ type: 'ESModule', path: `${programs}/${program}.mjs` }],
    modulesRoot: programs,
    compatibilityDate: '2026-04-20',
    bindings: { WEBHOOK_SECRET: secret },
    d1Databases: { DB: 'dedupe', DB2: 'dedupe' },
  });
  const object = (className: string, scriptName?: string) => ({
    className,
    scriptName,
    useSQLite: className !== 'KvObject',
  });
  const classes = (scriptName?: string) => ({
    SQLITE_OBJECTS: object('SqliteObject', scriptName),
    KV_OBJECTS: object('KvObject', scriptName),
    DEAD_OBJECTS: object('DeadObject', scriptName),
  });
  const Made = await load();
  const workers = new Made({
    defaultPersistRoot: data,
    d1Persist: `${data}/d1`,
    durableObjectsPersist: `${data}/objects`,
    workers: [
      { ...worker('receivers', 'worker-receivers'), durableObjects: { DEDUPE: object('DedupeObject') } },
      {
        ...worker('more-receivers', 'worker-receivers'),
        durableObjects: { DEDUPE: object('DedupeObject', 'receivers') },
      },
      {
        ...worker('suite', 'worker-suite'),
        durableObjects: classes('objects'),
        serviceBindings: { RECEIVERS: 'receivers' },
      },
      { ...worker('objects', 'worker-objects'), durableObjects: classes() },
      {
        ...worker('recipe-durable-object', 'recipe-durable-object'),
        d1Databases: {},
        durableObjects: { DEDUPE: object('DedupeObject') },
      },
      { ...worker('recipe-d1', 'recipe-d1'), d1Databases: { DB: 'recipe' } },
    ],
    // What a class says that cannot be made, on purpose.
    handleRuntimeStdio() {},
  });
  await workers.ready;
  return workers;
}

/** A Worker that is the producer and the consumer of a queue and of its dead-letter queue. */
export async function startQueueWorker(programs: string, secret: string): Promise<Miniflare> {
  const Made = await load();
  const soon = { maxBatchSize: 5, maxBatchTimeout: 0 };
  const workers = new Made({
    workers: [
      {
        name: 'queue',
        modules: [{ type: 'ESModule', path: `${programs}/worker-queue.mjs` }],
        modulesRoot: programs,
        compatibilityDate: '2026-04-20',
        bindings: { WEBHOOK_SECRET: secret },
        d1Databases: { DB: 'queued' },
        r2Buckets: { BUCKET: 'bodies' },
        queueProducers: { QUEUE: 'webhooks', DEAD: 'webhooks-dead' },
        queueConsumers: {
          webhooks: { ...soon, maxRetries: 100, deadLetterQueue: 'webhooks-dead' },
          'webhooks-dead': soon,
        },
      },
    ],
  });
  await workers.ready;
  return workers;
}

/** A Worker with nothing but the secret. */
export async function startWorker(programs: string, name: string, secret: string): Promise<Miniflare> {
  const Made = await load();
  const workers = new Made({
    workers: [
      {
        name,
        modules: [{ type: 'ESModule', path: `${programs}/${name}.mjs` }],
        modulesRoot: programs,
        compatibilityDate: '2026-04-20',
        bindings: { WEBHOOK_SECRET: secret },
      },
    ],
  });
  await workers.ready;
  return workers;
}

async function load(): Promise<new (options: object) => Miniflare> {
  return (await import(pathToFileURL(miniflare as string).href)).Miniflare;
}
