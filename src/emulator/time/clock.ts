import { createTimers, type Timer } from './timers.js';

/** The emulator's time. */
export interface Clock {
  /** Whether time moves by itself. */
  readonly running: boolean;
  /** Milliseconds since the epoch: what deliveries are signed with and the API counts by. */
  now(): number;
  /** Says when that much of the schedule will have passed: earlier, once time has been made to pass. */
  instantAfter(ms: number): () => number;
  /** The reverse: how much of the schedule passes until then. */
  msUntil(instant: number): number;
  /** Calls `run` once `ms` of the schedule have passed. */
  after(ms: number, run: () => void): Timer;
  /**
   * Lets `ms` pass at once: whatever falls due meanwhile happens in its order, each after what was before it is
   * answered. Where time moves by itself, only the waits get shorter; `now` stays what it is.
   */
  advance(ms: number): Promise<void>;
  /** {@link Clock.advance} until nothing waits any more. */
  runUntilIdle(): Promise<void>;
  /** A virtual clock is set to an instant. */
  set(now: number): void;
  /** Nothing falls due any more. */
  stop(): void;
}

export interface ClockOptions {
  /** How many times faster than real time the waits pass; undefined for a clock that only moves when it is told to. */
  speed: number | undefined;
  /** Where a virtual clock starts. */
  startAt: number;
  /** Resolves when nothing is going on in real time. */
  settled(): Promise<void>;
}

/** A longer one would be over at once. */
export const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** With the year 10000 the dates of envelopes would get another form. */
export const LAST_INSTANT = Date.UTC(9999, 11, 31);

export function createClock({ speed, startAt, settled }: ClockOptions): Clock {
  const timers = createTimers();
  const running = speed !== undefined;
  let moved = 0;
  let alarm: ReturnType<typeof setTimeout> | undefined;
  let turn = Promise.resolve();

  /** How much of the schedule has passed; where time moves by itself, since some instant or other. */
  const position = () => (running ? moved + performance.now() * speed : moved);

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
    alarm = setTimeout(fire, Math.min(Math.max(0, ms), LONGEST_TIMEOUT_MS));
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

  /** One journey after the other, so that two callers do not move the same hands. */
  const inTurn = (journey: () => Promise<void>) => {
    turn = turn.then(journey);
    return turn;
  };

  const now = () => (running ? Date.now() : startAt + moved);

  return {
    running,
    now,
    instantAfter(ms) {
      const at = position() + ms;
      const instant = () => now() + Math.ceil((at - position()) / (speed ?? 1));
      let [asOf, found] = [moved, instant()];
      return () => {
        if (running && asOf !== moved) [asOf, found] = [moved, instant()];
        return found;
      };
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
        setAlarm(); // what is due next is due sooner now
      }),
    runUntilIdle: () => inTurn(() => travel(Number.POSITIVE_INFINITY)),
    set(now) {
      if (!running) moved = now - startAt;
    },
    stop() {
      timers.clear();
      clearTimeout(alarm);
    },
  };
}
