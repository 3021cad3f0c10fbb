import { sleep } from '../timers.js';

const MAX_TRIES = 10;

/**
 * Retries what is one transaction after the server has undone it because of another one, as in a deadlock or a lost race:
 * these are no answers.
 */
export function retrying<Values extends unknown[], Result>(
  transaction: (...values: Values) => Promise<Result>,
  isUndone: (error: unknown) => boolean,
): (...values: Values) => Promise<Result> {
  return async (...values) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await transaction(...values);
      } catch (error) {
        if (!isUndone(error) || tries === MAX_TRIES) throw error;
        await sleep(Math.random() * 10 * tries);
      }
    }
  };
}
