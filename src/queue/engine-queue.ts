import { check } from '../option-checks.js';
import { PUT_LIMIT_MS } from '../receiver/delivery-queue.js';
import { hasMethods } from '../stores/named-client.js';
import { withTimeout } from '../timers.js';
import type { FollowedJob, FollowedState } from './dead-letters.js';

/**
 * Checks the client of an engine by the methods that are used. `subject` is the beginning of the message.
 *
 * @throws WebhookError `invalid_option`
 */
export function checkClient(subject: string, client: unknown, methods: readonly string[]): void {
  for (const method of methods) check(hasMethods(client, [method]), `${subject}: it has no method ${method}()`);
}

/**
 * Resolves to the result of a put, or rejects at the time limit, because some clients wait without limit for their
 * server. If the engine stores the job after that, the next attempt of the delivery finds it.
 */
export function limitedPut<T>(call: () => Promise<T>): Promise<T> {
  return withTimeout(PUT_LIMIT_MS, call);
}

/** Returns a followed job whose state the engine tells whenever it is asked, so that nothing is open meanwhile. */
export function followedBy(state: () => Promise<FollowedState>): FollowedJob {
  return { state, close: async () => {} };
}
