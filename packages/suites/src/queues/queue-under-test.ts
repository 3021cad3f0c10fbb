import type { OperatedQueue, WorkerOptions } from 'service-webhooks/queue';

/** The queue of one case: the queue, another client of it, and its workers. */
export interface QueueUnderTest {
  queue: OperatedQueue;
  /** The same queue on another client; `queue` itself where there can be only one. */
  queue2?: OperatedQueue | undefined;
  /** Starts a worker as your users do, which handles one job at a time. */
  work(options: WorkerOptions): Promise<WorkerUnderTest>;
  /** Called after the case: stops the workers and closes the clients. */
  close?: (() => void | Promise<void>) | undefined;
}

/** A running worker. */
export interface WorkerUnderTest {
  /** Accepts no more jobs, and resolves when the running ones have ended. */
  stop(): Promise<void>;
  /** Ends as `kill -9` does: running jobs are never reported to the engine. */
  kill?: (() => Promise<void>) | undefined;
}

/** The setup of the engine for one case. */
export interface QueueUnderTestSetup {
  /** The number of times a job is started before it is a dead letter. */
  attempts: number;
}

/** How the suite creates a queue, and how it can disturb it. A case whose hook is missing says so in `skip`. */
export interface QueueSuiteOptions<Made extends QueueUnderTest = QueueUnderTest> {
  /** Creates an empty queue that retries as soon as it can. Called once for each case. */
  make(setup: QueueUnderTestSetup): Made | Promise<Made>;
  /** Puts a value into the engine that is not a queued delivery, as another program would. */
  inject?: ((made: Made, job: unknown) => void | Promise<void>) | undefined;
  /** Ends the engine as `kill -9` does and starts it again; the clients may reconnect by themselves. */
  restart?: ((made: Made) => void | Promise<void>) | undefined;
  /** Cuts the connections of the workers to the engine. The workers connect again by themselves. */
  disconnect?: ((made: Made) => void | Promise<void>) | undefined;
  /**
   * Makes the engine take the running jobs from the first worker, as from one that was paused for longer than its lock or
   * lease. The handlers go on.
   */
  lapse?: ((made: Made) => void | Promise<void>) | undefined;
  /** Returns a queue whose server cannot be reached. */
  unreachable?: (() => OperatedQueue | Promise<OperatedQueue>) | undefined;
  /**
   * The abilities that the engine lacks. `'known'`: it accepts a key twice, so that the worker needs an inbox.
   * `'dead'`: it remembers no key of a dead letter. `'attempts'`: its dead letters lack the number of attempts.
   * `'reason'`: a dead letter without a {@link PermanentError} has no reason. `'oldest'`: it does not know how long a
   * job waits. `'order'`: dead letters have no order.
   */
  without?: readonly QueueAbility[] | undefined;
  /** How long a case waits for the engine, in milliseconds. Default: 20 000. */
  patienceMs?: number | undefined;
}

/** An ability that an engine may lack. */
export type QueueAbility = 'known' | 'dead' | 'attempts' | 'reason' | 'oldest' | 'order';
