import { AsyncResource } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate } from 'node:timers';
import timersPromises from 'node:timers/promises';
import { promisify } from 'node:util';
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
   * `done` returns true, and to false where no timer is left, or too many have run.
   */
  runUntil(done: () => boolean): Promise<boolean>;
  /** Whether timers are left. */
  readonly hasTimers: boolean;
  /** Runs what is due until a promise is settled, and resolves to its value. Rejects where it is never settled. */
  resultOf<T>(promise: Promise<T>): Promise<T>;
  /** Runs what is due until `ms` milliseconds have passed. */
  pass(ms: number): Promise<void>;
  /** Gives the process its own time back. */
  end(): void;
}

const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;
const STARTS_AT = Date.UTC(2026, 0, 1);
/** More timers than a world needs that comes to rest. */
const MOST_STEPS = 200_000;

/** @throws WebhookError `invalid_option` where the timers of this process are replaced already */
export function startVirtualTime(): VirtualTime {
  const clock = installed();
  const { setTimeout, setInterval } = globalThis;
  const sleep = promiseOfProcess(timersPromises.setTimeout);
  globalThis.setTimeout = Object.assign(timerOfProcess(setTimeout), { [promisify.custom]: sleep });
  globalThis.setInterval = timerOfProcess(setInterval);
  globalThis.Date = dateOfProcess(globalThis.Date);
  // The same for `import { setTimeout } from 'node:timers'` and `'node:timers/promises'`.
  Object.assign(timers, { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval });
  Object.assign(timersPromises, { setTimeout: sleep });
  syncBuiltinESMExports();

  const time: VirtualTime = {
    elapsed: () => clock.now - STARTS_AT,
    now: () => clock.now,
    after: (ms, call) => outsideOfProcesses(() => void setTimeout(call, ms)),
    async runUntil(done) {
      for (let steps = 0; steps < MOST_STEPS; steps += 1) {
        await atRest();
        if (done()) return true;
        if (clock.countTimers() === 0) return false;
        clock.next();
      }
      return false;
    },
    get hasTimers() {
      return clock.countTimers() > 0;
    },
    async resultOf(promise) {
      let isSettled = false;
      const settled = () => {
        isSettled = true;
      };
      promise.then(settled, settled);
      if (await time.runUntil(() => isSettled)) return promise;
      throw new Error('A promise waits for something that never comes: no timer is left that could settle it.');
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
    const hint =
      'Call simulate() with real timers, such as after vi.useRealTimers() or jest.useRealTimers(), and one simulation after the other.';
    throw new WebhookError('invalid_option', { message, hint, cause });
  }
}

/** Returns a function that starts timers, whose callbacks run as parts of the process that has started them. */
function timerOfProcess<Start extends typeof setTimeout | typeof setInterval>(start: Start): Start {
  const startOfProcess = (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => {
    const process = currentProcess();
    const delayMs = Math.max(1, ms); // as Node does, so that time passes
    if (process === undefined) return start(call, delayMs, ...args);
    const bound = AsyncResource.bind(() => call(...args)); // keeps every AsyncLocalStorage, as a timer of Node does
    let isHeld = false;
    const run = () => {
      isHeld = false;
      bound();
    };
    const fire = () => {
      if (!isHeld) process.resume(run);
      isHeld = process.isPaused; // an interval runs once after a pause, however long it was
    };
    const timer = start(fire, delayMs);
    process.onKilled(() => clearTimeout(timer));
    return timer;
  };
  return startOfProcess as unknown as Start;
}

/** Returns the function with promises that go on as parts of the process that has called it. */
function promiseOfProcess<Args extends unknown[]>(start: (...args: Args) => Promise<unknown>) {
  return (...args: Args): Promise<unknown> => {
    const process = currentProcess();
    const started = start(...args);
    if (process === undefined) return started;
    return new Promise((resolve, reject) => {
      const settle = (call: () => void) => process.resume(call);
      started.then(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
    });
  };
}

/** Returns a Date whose current time has the skew of the process that asks. */
function dateOfProcess(date: DateConstructor): DateConstructor {
  const now = () => date.now() + (currentProcess()?.skewMs ?? 0);
  return new Proxy(date, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

/** Resolves when no promise is left that can go on. A turn may start the `setImmediate` of another one. */
async function atRest(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
