import { type Answer, readAnswer } from './answer.js';
import { attempt, failed, type RequestBody } from './attempt.js';
import { CallError } from './call-error.js';
import { createLimiter, noLimiter } from './limiter.js';
import type { ReadyOptions } from './options.js';
import type { RateState } from './rate.js';
import { waitBeforeRetry } from './retry.js';
import { withTimeLimit } from './time-limit.js';

/** A request with what may be done to get an answer to it. */
export interface Call {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: RequestBody;
  /** Whether sending it twice does the same as sending it once. */
  repeatable: boolean;
  signal: AbortSignal | undefined;
  /** All in all, in milliseconds. */
  timeoutMs: number;
}

/** The way of every call: wait for room, send, read the answer, and again where that makes sense. Rejects as it says. */
export function createSend(options: ReadyOptions, onRate: (rate: RateState) => void): (call: Call) => Promise<Answer> {
  const { now, random, sleep, maxAttempts } = options;
  const limiter = options.limiter ? createLimiter(options) : noLimiter;

  return (call) => {
    const deadline = now() + call.timeoutMs;
    let attempts = 0;
    const fail = (code: 'timed_out' | 'limit_reached', found: string) =>
      failed({ ...call, attempts }, code, found, { nothingDone: attempts === 0 });
    const timedOut = () => fail('timed_out', `no answer in ${call.timeoutMs} ms`);
    const tooLong = (ms: number) => fail('limit_reached', `no request left for ${ms} ms`);

    async function sendOnce(signal: AbortSignal): Promise<Answer> {
      const done = await limiter.take({ deadline, tooLong, signal });
      attempts += 1;
      const request = { ...call, attempts, signal };
      let rate: RateState | undefined;
      try {
        const incoming = await attempt(request, options);
        rate = incoming.rate;
        if (rate !== undefined) onRate(rate);
        return readAnswer(incoming, request, options);
      } catch (error) {
        // Before `done`, which lets the next one go.
        if (error instanceof CallError && error.retry === 'later') limiter.block((error.retryAfter ?? 0) * 1000);
        throw error;
      } finally {
        done(rate);
      }
    }

    return withTimeLimit({ ms: call.timeoutMs, timedOut, signal: call.signal }, async (signal) => {
      for (;;) {
        try {
          return await sendOnce(signal);
        } catch (error) {
          if (!(error instanceof CallError)) throw error;
          const ms = waitBeforeRetry(error, call.repeatable, random);
          if (ms === undefined || attempts >= maxAttempts || now() + ms >= deadline) throw error;
          await sleep(ms, signal);
          signal.throwIfAborted();
        }
      }
    });
  };
}
