import type { CauseName, Certainty, Judged } from './causes.js';

const DAY_SECONDS = 86_400;

/**
 * Returns why a clock, in milliseconds, refuses a signed time, in seconds. `shown`: whether the signature covers the
 * time.
 */
export function timeFindings(
  t: number | undefined,
  { now, toleranceSeconds = 300, shown }: { now: number; toleranceSeconds: number | undefined; shown: boolean },
): readonly Judged[] {
  const age = Math.floor(now / 1000 - (t ?? Number.NaN));
  if (t === undefined || Math.abs(age) <= toleranceSeconds) return [];
  const judge = (cause: CauseName, certainty: Certainty, evidence: string): Judged => {
    return { cause, certainty: shown ? certainty : 'possible', evidence };
  };
  if (Math.abs(now - t) <= DAY_SECONDS)
    return [judge('clock_in_seconds', 'certain', 'now() gave the time in seconds.')];
  if (age < 0)
    return [judge('clock_behind', 'certain', `It was signed ${inWords(-age)} after the time of this clock.`)];
  // The delivery cannot show whether it is old or the clock is wrong.
  const evidence = `It was signed ${inWords(age)} before the time of this clock.`;
  const [likely, possible] = age < DAY_SECONDS ? CLOCK_FIRST : CLOCK_FIRST.toReversed();
  return [judge(likely as CauseName, 'likely', evidence), judge(possible as CauseName, 'possible', evidence)];
}

const CLOCK_FIRST: readonly CauseName[] = ['clock_ahead', 'old_delivery'];

function inWords(seconds: number): string {
  const hours = Math.round(seconds / 3600);
  const isZone = hours >= 1 && hours <= 14 && Math.abs(seconds - hours * 3600) <= 5;
  return isZone ? `${seconds} s (${hours} h: a clock set in another time zone?)` : `${seconds} s`;
}
