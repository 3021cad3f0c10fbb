import { AsyncResource } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate } from 'node:timers';
import { install } from '@sinonjs/fake-timers';
import { WebhookError } from 'service-webhooks';
import { currentProcess, outsideOfProcesses } from './processes.js';

/** The time of the simulated world, which also `Date`, `performance` and the timers of this process have meanwhile. */
export interface VirtualTime {
  /** Milliseconds since the world began. */
  elapsed(): number;
  /** Milliseconds since the epoch, by a clock that no process has changed. */
  now(): number;
  /** Calls a function of the world, not of a process, after a number of milliseconds. */
  after(ms: number, call: () => void): void;
  /**
   * Runs what is due, one timer after the other, each once everything before it has come to rest. Resolves to true when
   * `done` returns true, and to false where it does not within `mostSteps` timers, or no timer is left.
   */
  runUntil(done: () => boolean, mostSteps: number): Promise<boolean>;
  /** Runs what is due until a promise is settled, and resolves to its value. */
  resultOf<T>(promise: Promise<T>): Promise<T>;
  /** Runs what is due until `ms` milliseconds have passed. */
  pass(ms: number): Promise<void>;
  /** Gives the process its own time back. */
  end(): void;
}

const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;
const STARTS_AT = Date.UTC(2026, 0, 1);

/** @throws WebhookError `invalid_option` where the timers of this process are replaced already */
export function startVirtualTime(): VirtualTime {
  const clock = installed();
  const { setTimeout, setInterval } = globalThis;
  const { now } = Date;
  globalThis.setTimeout = ofProcess(setTimeout);
  globalThis.setInterval = ofProcess(setInterval);
  Date.now = () => now() + (currentProcess()?.skewMs ?? 0);
  syncBuiltinESMExports(); // also for `import { setTimeout } from 'node:timers/promises'`

  const time: VirtualTime = {
    elapsed: () => clock.now - STARTS_AT,
    now: () => clock.now,
    after: (ms, call) => outsideOfProcesses(() => void setTimeout(call, ms)),
    async runUntil(done, mostSteps) {
      for (let steps = 0; steps < mostSteps; steps += 1) {
        await atRest();
        if (done()) return true;
        if (clock.countTimers() === 0) return false;
        clock.next();
      }
      return false;
    },
    async resultOf(promise) {
      let isSettled = false;
      const settled = () => {
        isSettled = true;
      };
      promise.then(settled, settled);
      await time.runUntil(() => isSettled, Number.POSITIVE_INFINITY);
      return promise;
    },
    pass: (ms) => time.resultOf(new Promise((resolve) => time.after(ms, resolve))),
    end() {
      clock.uninstall();
      syncBuiltinESMExports();
    },
  };
  return time;
}

function installed() {
  try {
    return install({ now: STARTS_AT, toFake: [...FAKED] });
  } catch (cause) {
    const message = 'simulate() needs the timers of this process, and something else has replaced them.';
    const hint = 'Call simulate() with real timers: jest.useRealTimers() or vi.useRealTimers() before it.';
    throw new WebhookError('invalid_option', { message, hint, cause });
  }
}

/** Returns a function that starts timers, whose callbacks run as parts of the process that has started them. */
function ofProcess<Start extends typeof setTimeout | typeof setInterval>(start: Start): Start {
  const startOfProcess = (call: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const process = currentProcess();
    if (process === undefined) return start(call, ms, ...args);
    const bound = AsyncResource.bind(() => call(...args)); // keeps every AsyncLocalStorage, as a timer of Node does
    return start(() => process.resume(bound), ms);
  };
  return startOfProcess as Start;
}

/** Resolves when no promise is left that can go on. A turn may start the `setImmediate` of another one. */
async function atRest(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
