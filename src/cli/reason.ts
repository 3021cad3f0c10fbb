import { isWebhookError } from '../errors.js';
import { Failure } from './failure.js';

/** What an error says; some of a connection have a code alone. */
export function reasonOf(error: unknown): string {
  const { message = '', code = '' } = Object(error) as { message?: string; code?: string };
  return message || code || String(error);
}

/** Turns what a library throws into a Failure. A Failure, and a wrong option, are for the user already and stay. */
export async function asked<T>(call: () => T | Promise<T>, failure: (reason: string) => Failure): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isForUser = error instanceof Failure || (isWebhookError(error) && error.code === 'invalid_option');
    throw isForUser ? error : failure(reasonOf(error));
  }
}
