import { Failure } from '../../packages/cli/src/failure.js';

/** The exit code and the line of a Failure. Anything else is passed on, and so fails the test. */
export function failureOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return inShort(error);
  }
  throw new Error('nothing failed');
}

/** {@link failureOf} of a promise. */
export function failureOfPromise(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => {
    throw new Error('nothing failed');
  }, inShort);
}

function inShort(error: unknown): string {
  if (!(error instanceof Failure)) throw error;
  return `${error.exitCode}: ${error.message}`;
}
