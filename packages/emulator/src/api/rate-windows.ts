/** The windows in which the requests of an account are counted. */
export interface RateWindows {
  /** In milliseconds since the epoch, as is `dayStart`. */
  minuteStart: number;
  inMinute: number;
  dayStart: number;
  today: number;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

export function createRateWindows(): RateWindows {
  return { minuteStart: 0, inMinute: 0, dayStart: 0, today: 0 };
}

/** Starts new windows where the old ones have ended. The minute starts with its first request, the day at 00:00 UTC. */
export function turnWindows(windows: RateWindows, now: number): void {
  if (windows.inMinute === 0 || now >= minuteEnd(windows)) {
    windows.minuteStart = now;
    windows.inMinute = 0;
  }
  if (now < windows.dayStart || now >= dayEnd(windows)) {
    windows.dayStart = now - (now % DAY);
    windows.today = 0;
  }
}

/** Returns when the minute ends, in milliseconds since the epoch. */
export function minuteEnd({ minuteStart }: RateWindows): number {
  return minuteStart + MINUTE;
}

/** Returns when the day ends, in milliseconds since the epoch. */
export function dayEnd({ dayStart }: RateWindows): number {
  return dayStart + DAY;
}
