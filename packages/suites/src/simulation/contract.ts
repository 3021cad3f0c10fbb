import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DedupeStore, Delivery, Handlers, Receiver, WebhookEvent } from 'service-webhooks';
import type { FetchJob } from 'service-webhooks/jobs';
import type { DeliveryQueue, PayloadOptions, WorkerOptions } from 'service-webhooks/queue';
import type { TransactionInbox } from 'service-webhooks/stores/postgres';
import type { SimulatedFault } from './faults.js';
import type { JobsClient } from './job-engine.js';
import type { StoreModel } from './store-models.js';

/** The services and helpers that a simulated process uses. Its other clients are yours: pass each through {@link World.connect}. */
export interface World<State = undefined> {
  /** The signing secret of the endpoint: that of the first tenant. */
  readonly secret: string;
  /** The signing secrets of all tenants, for the `secret` of a receiver. The option `tenants` has their number. */
  readonly secrets: { readonly [tenant: string]: string };
  /** The dedupe store. Its guarantees are those of one of {@link StoreModel}, which the seed selects. */
  readonly store: DedupeStore;
  /** A queue whose engine holds jobs by leases. The `worker` of the simulation runs them. */
  readonly queue: DeliveryQueue;
  /** The engine of {@link World.queue}, for a worker of your own. */
  readonly jobs: JobsClient;
  /** How bodies are stored in {@link World.queue}, for a worker of your own. The simulation's worker has it. */
  readonly payloads: PayloadOptions;
  /** A database with transactions and an inbox. */
  readonly database: Database;
  /** The API of the service, for an app with `createJobs` of `service-webhooks/jobs`. */
  readonly service: ServiceApi;
  /** State that survives a killed process: the result of the option `state`. */
  readonly state: State;
  /**
   * Returns handlers whose runs the simulation knows: without this it cannot tell whether an acknowledged event was handled.
   */
  handlers(on: Handlers): Handlers;
  /**
   * Records a run of the work of a route behind a middleware, as {@link World.handlers} does for a handler. Call it for the
   * events of every type, also for those that the route ignores.
   *
   * @example
   * const { webhook } = req;
   * if (webhook) await work(webhook, () => save(webhook.event));
   */
  work<T>(delivery: Pick<Delivery, 'event' | 'tenant'>, run: () => T | PromiseLike<T>): Promise<T>;
  /**
   * Calls another system: a mailer, another API, a row that you write. The call takes time, and the process may be killed or
   * paused on each side of it. It may reject although `effect` has run, or runs up to 60 s later. It rejects with an Error where
   * the connection breaks, and with the error that `effect` threw. Make no call inside `effect`.
   *
   * @param what What the call does, for the story of a failing seed.
   */
  call<T>(what: string, effect: () => T | PromiseLike<T>): Promise<T>;
  /** Returns an object whose methods, also those of objects in it, are each a {@link World.call} of those of `client`. */
  connect<Client extends object>(what: string, client: Client): Client;
}

/** What a process calls of the service where webhooks may never come. */
export interface ServiceApi {
  /**
   * Lets this process submit jobs. `submitted` is called with the answer of the API to each of them. Once its promise has
   * resolved, the simulation requires that the job is handled, by its event or by a reconciliation, within twelve hours of the
   * last fault; not where the process of a memory store was killed, or a failover may have lost the job. The fault
   * `'lost delivery'` occurs only where a process calls this.
   *
   * @example
   * service.onSubmitted(({ jobId, types }) => jobs.expect(jobId, { types, within: '10m' }));
   */
  onSubmitted(submitted: (job: SubmittedJob) => unknown): void;
  /** Asks the service for a job: the `fetch` of `jobs.reconcile()`. */
  readonly fetchJob: FetchJob;
}

/** A job that was submitted to the service. */
export interface SubmittedJob {
  /** The id of the job, which its events have. */
  readonly jobId: string;
  /** The types of the events that end it. */
  readonly types: readonly string[];
  /** Whose job it is, where the option `tenants` is more than 1. */
  readonly tenant: string | undefined;
}

/**
 * What a receiving process runs: a receiver; an app with `fetch`, such as one of Hono; or the listener of Node's HTTP
 * server, such as an app of Express, the `callback()` of one of Koa, or the `routing` of one of Fastify that is ready.
 */
export type ReceiverProcess =
  | Receiver
  | { fetch(request: Request): Response | Promise<Response> }
  | { listener(req: IncomingMessage, res: ServerResponse): unknown };

/** Options of {@link simulate}. */
export interface SimulationOptions<State = undefined> {
  /** The number of seeds, from 1 on and up to a million, or the seeds themselves, 32-bit integers. Default: 100. */
  seeds?: number | readonly number[] | undefined;
  /**
   * Creates the state that survives a killed process, such as the rows that your handlers write. Called once for each seed.
   */
  state?: (() => State) | undefined;
  /**
   * Starts a worker of {@link World.queue}: returns its options, or starts a worker of its own on {@link World.jobs} and
   * returns nothing. Default: there are no workers.
   */
  worker?: ((world: World<State>) => WorkerOptions | undefined) | undefined;
  /** The number of processes that receive. Default: 2. */
  receivers?: number | undefined;
  /** The number of processes that run jobs. Default: 2. */
  workers?: number | undefined;
  /** The largest number of events of each tenant in the world of a seed. Default: 4. */
  events?: number | undefined;
  /**
   * The number of tenants whose events come to one URL, each signed with a secret of its own. Each event is sent to all of
   * them with one id, as a hostile tenant can send the ids of another one. Default: 1.
   */
  tenants?: number | undefined;
  /** The model of the store. Default: the seed selects one. */
  store?: StoreModel | undefined;
  /** The faults that never occur. Default: none. */
  without?: readonly SimulatedFault[] | undefined;
  /**
   * Your own check, called at the end of each seed that breaks no other rule. Throw to fail the seed.
   */
  check?: ((ended: EndedWorld<State>) => void | Promise<void>) | undefined;
}

/** A simulated world in which nothing happens any more. */
export interface EndedWorld<State = undefined> {
  /** The result of the option `state`. */
  readonly state: State;
  /** The events whose deliveries ended with a 2xx: the service sends none of them again. */
  readonly acknowledged: readonly WebhookEvent[];
  /** The events whose deliveries ended without one. */
  readonly unacknowledged: readonly WebhookEvent[];
}

/** What was simulated. */
export interface SimulationReport {
  /** The seeds that were played. */
  seeds: number;
  /** The events that the service sent, each once for each tenant. */
  events: number;
  /** The requests that the service sent. */
  attempts: number;
  /** The calls of stores, queues, databases and of {@link World.call}. */
  calls: number;
  /** The processes that were killed. */
  kills: number;
  /** How often a process was paused. */
  pauses: number;
  /** The virtual time that passed, in milliseconds. */
  elapsedMs: number;
}

/** A database whose transactions take effect as a whole. */
export interface Database {
  /** Runs `work` in a transaction: it is committed when `work` returns, and rolled back when it throws. */
  transaction<T>(work: (tx: Transaction) => T | PromiseLike<T>): Promise<T>;
  /** The inbox in this database, as those of `service-webhooks/stores/…` are. */
  readonly inbox: Pick<TransactionInbox<Transaction>, 'once'>;
}

/** An open transaction. */
export interface Transaction {
  /**
   * Writes: `effect` runs when the transaction is committed. `what` names the write: use the same name in each run of an event.
   * The simulation requires that a write inside `once()` is committed at most once for each event. It rejects with an Error
   * where the call fails or the transaction was aborted.
   */
  write(what: string, effect?: () => void): Promise<void>;
}
