import { PUT_LIMIT_MS } from '../receiver/delivery-queue.js';
import { withTimeout } from '../timers.js';

/**
 * Resolves to the result of a put, or rejects at the time limit, because some clients wait without limit for their
 * server. If the engine stores the job after that, the next attempt of the delivery finds it.
 */
export function limitedPut<T>(call: () => Promise<T>): Promise<T> {
  return withTimeout(PUT_LIMIT_MS, call);
}
