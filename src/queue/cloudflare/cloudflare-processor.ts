import { checkObject, integers } from '../../option-checks.js';
import { createLog } from '../../receiver/log.js';
import { backoffAfter, UNREADABLE_DELAY_MS } from '../backoff.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { reportError } from '../reason.js';
import { countOf } from '../stored-values.js';
import { type CloudflareQueueBinding, checkBinding } from './cloudflare-queue.js';

/** Options of {@link cloudflareProcessor}. */
export interface CloudflareProcessorOptions extends WorkerOptions {
  /** The producer binding of the queue itself, where jobs of another version are sent again. */
  queue: CloudflareQueueBinding;
  /** The producer binding of the dead-letter queue. */
  dead: CloudflareQueueBinding;
  /** How many times a handler is started before its job is a dead letter. Default: 10. */
  attempts?: number | undefined;
  /** The wait after the first failure, in milliseconds; it doubles with each further one. Default: 1 000. */
  backoffMs?: number | undefined;
  /** The longest wait, in milliseconds. Default: 3 600 000 (an hour). */
  maxBackoffMs?: number | undefined;
}

/** The part that is used of a batch. */
export interface CloudflareBatch {
  readonly messages: readonly CloudflareMessage[];
}

/** The part that is used of a message. */
export interface CloudflareMessage {
  readonly body: unknown;
  /** Counted from 1. */
  readonly attempts: number;
  ack(): void;
  retry(options: { delaySeconds: number }): void;
}

/**
 * Returns what handles the batches of a consumer. Its jobs run at the same time, and each is acknowledged, retried or
 * made a dead letter for itself. Set `max_retries` of the consumer to 100, the largest, so that `attempts` decides.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * export default {
 *   queue: (batch: CloudflareBatch, env: Env) => cloudflareProcessor({ queue: env.QUEUE, dead: env.DEAD, on })(batch),
 * };
 */
export function cloudflareProcessor(options: CloudflareProcessorOptions): (batch: CloudflareBatch) => Promise<void> {
  checkObject('options', options);
  const { queue, dead, attempts: _, backoffMs, maxBackoffMs, ...workerOptions } = options;
  checkBinding('queue', queue);
  checkBinding('dead', dead);
  const settings = integers(options, { attempts: 10, backoffMs: 1_000, maxBackoffMs: 3_600_000 });
  const process = createProcessor(workerOptions);
  const log = createLog(options.logger);

  async function run(message: CloudflareMessage): Promise<void> {
    const { body } = message;
    const attempt = Math.max(1, countOf(message.attempts));
    const ended = await process(body, { attempt, attempts: settings.attempts });
    if (ended.as === 'failed') {
      message.retry({ delaySeconds: Math.ceil(backoffAfter(attempt, settings) / 1_000) });
      return;
    }
    if (ended.as === 'unreadable') {
      // As a new message, because a retry would count as an attempt.
      await queue.send(body, { contentType: 'json', delaySeconds: UNREADABLE_DELAY_MS / 1_000 });
    } else if (ended.as === 'dead') {
      await dead.send(body, { contentType: 'json' });
    }
    message.ack();
    if (ended.as === 'dead') process.deadLetter(body, ended);
  }

  async function runSafely(message: CloudflareMessage): Promise<void> {
    try {
      await run(message);
    } catch (error) {
      reportError(log, 'settle', 'The result of a job could not be recorded, so that it runs again', error);
      message.retry({ delaySeconds: 1 });
    }
  }

  return async ({ messages }) => {
    await Promise.all(messages.map(runSafely));
  };
}
