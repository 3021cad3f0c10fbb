import { createTimers, type Timer } from './timers.js';

/**
 * The emulator's time. A virtual clock moves only when `advance` or `runUntilIdle` move it; a real clock runs by itself,
 * and its schedule (the waits between attempts) may run faster than the time of day.
 */
export interface Clock {
  /** Whether this is a real clock. */
  readonly running: boolean;
  /** The time of day in milliseconds since the epoch: signatures and API limits use it. */
  now(): number;
  /** Returns a function that returns the time of day `ms` of the schedule from now; `advance` brings it nearer. */
  instantAfter(ms: number): () => number;
  /** Returns how many milliseconds of the schedule pass until that time of day. */
  msUntil(instant: number): number;
  /** Calls `run` after `ms` of the schedule. */
  after(ms: number, run: () => void): Timer;
  /**
   * Lets `ms` of the schedule pass at once. What becomes due runs in order, each after what ran before it has settled.
   * On a real clock only the waits get shorter: `now` does not jump.
   */
  advance(ms: number): Promise<void>;
  /** Calls {@link Clock.advance} until nothing is scheduled. */
  runUntilIdle(): Promise<void>;
  /** Sets a virtual clock; does nothing to a real one. */
  set(now: number): void;
  /** Cancels everything that is scheduled. */
  stop(): void;
}

export interface ClockOptions {
  /** How many times faster than real time the schedule of a real clock runs; undefined for a virtual clock. */
  speed: number | undefined;
  /** Where a virtual clock starts, in milliseconds since the epoch. */
  startAt: number;
  /** Resolves when no request is running. */
  settled(): Promise<void>;
}

/** The longest wait of a timer, in milliseconds. One with a longer wait would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Dates from the year 10000 on have another form in ISO 8601. */
export const LAST_INSTANT = Date.UTC(9999, 11, 31);

export function createClock({ speed, startAt, settled }: ClockOptions): Clock {
  const timers = createTimers();
  const running = speed !== undefined;
  let moved = 0;
  let alarm: ReturnType<typeof setTimeout> | undefined;
  let journeys = Promise.resolve();

  /** The time on the schedule: on a virtual clock from its start, on a real one from an arbitrary moment. */
  const position = () => (running ? moved + performance.now() * speed : moved);

  const now = () => (running ? Date.now() : startAt + moved);

  const moveTo = (target: number) => {
    moved += Math.max(0, target - position());
  };

  const fire = () => {
    const by = position();
    for (let run = timers.take(by); run !== undefined; run = timers.take(by)) run();
    setAlarm();
  };

  const setAlarm = () => {
    clearTimeout(alarm);
    if (!running || timers.next === undefined) return;
    const ms = Math.ceil((timers.next - position()) / speed);
    alarm = setTimeout(fire, Math.min(Math.max(0, ms), MAX_TIMER_MS));
  };

  const travel = async (target: number) => {
    for (;;) {
      await settled();
      const { next } = timers;
      if (next === undefined || next > target) break;
      moveTo(next);
      fire();
    }
  };

  /** Runs one journey after the other, so that two callers do not move the clock at the same time. */
  const inTurn = (journey: () => Promise<void>) => {
    journeys = journeys.then(journey);
    return journeys;
  };

  return {
    running,
    now,
    instantAfter(ms) {
      const at = position() + ms;
      if (!running) return () => startAt + at;
      const origin = Date.now() - performance.now();
      return () => Math.round(origin + (at - moved) / speed);
    },
    msUntil: (instant) => (instant - now()) * (speed ?? 1),
    after(ms, run) {
      const timer = timers.add(position() + ms, run);
      setAlarm();
      return timer;
    },
    advance: (ms) =>
      inTurn(async () => {
        const target = position() + ms;
        await travel(target);
        moveTo(target);
        setAlarm();
      }),
    runUntilIdle: () => inTurn(() => travel(Number.POSITIVE_INFINITY)),
    set(instant) {
      if (!running) moved = instant - startAt;
    },
    stop() {
      timers.clear();
      clearTimeout(alarm);
    },
  };
}
