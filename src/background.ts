import { checkFunction } from './option-checks.js';

/** Takes work that may go on after the response. Never throws; the work may reject. */
export type Background = (work: PromiseLike<unknown>) => void;

/**
 * Returns the one function that takes all work after the response. It passes a promise that never rejects to `waitUntil`,
 * so that a platform does not stop the process before. Without `waitUntil`, the work goes on as long as the process runs.
 *
 * @param onError Called with the error that `waitUntil` throws, or with which its result rejects.
 * @throws WebhookError `invalid_option`
 */
export function createBackground(
  waitUntil?: (work: Promise<unknown>) => void,
  onError: (error: unknown) => void = () => {},
): Background {
  checkFunction('waitUntil', waitUntil);
  return (work) => {
    const ended = Promise.allSettled([work]); // never rejects
    if (waitUntil) (async () => waitUntil(ended))().catch(onError);
  };
}
