/** How many requests an account has made in its windows. */
export interface RateWindows {
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

/** Begins new windows where the old ones have ended (specification, section 8.3): the minute at its first request. */
export function turnWindows(windows: RateWindows, now: number): void {
  if (windows.inMinute === 0 || now >= minuteEnd(windows)) {
    windows.minuteStart = now;
    windows.inMinute = 0;
  }
  if (now < windows.dayStart || now >= dayEnd(windows)) {
    windows.dayStart = now - (now % DAY); // 00:00 UTC
    windows.today = 0;
  }
}

/** When the minute ends, all at once, in milliseconds since the epoch. */
export function minuteEnd({ minuteStart }: RateWindows): number {
  return minuteStart + MINUTE;
}

export function dayEnd({ dayStart }: RateWindows): number {
  return dayStart + DAY;
}
