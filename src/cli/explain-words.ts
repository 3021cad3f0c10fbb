import type { Cause } from '../explain/index.js';

/** Fixes in terms of the command line, where those of the library name options of code. */
const FIXES: Readonly<Record<string, string>> = {
  header_prefix: 'Pass the prefix of the header names, as in --header-prefix x-vendor.',
  old_delivery:
    'If it was captured or kept, verify it as of the time it was signed: --at signed. Otherwise it is a replay.',
  clock_in_seconds: 'The clock of the receiver must give milliseconds, as Date.now() does.',
};

/**
 * Returns the causes for a delivery in a file, which is old far more often than a clock is wrong. `isAgeUnknown`: the
 * time of its arrival was neither given nor part of its name.
 */
export function inFileWords(causes: readonly Cause[], { isAgeUnknown }: { isAgeUnknown: boolean }): Cause[] {
  const worded = causes.map((cause) => ({ ...cause, fix: FIXES[cause.cause] ?? cause.fix }));
  if (!isAgeUnknown) return worded;
  const rest = worded.filter(({ cause }) => cause !== 'clock_ahead' && cause !== 'old_delivery');
  const age = worded.find(({ cause }) => cause === 'old_delivery');
  const clock = worded.find(({ cause }) => cause === 'clock_ahead');
  if (age === undefined || clock === undefined) return worded;
  const certain = rest.filter(({ certainty }) => certainty === 'certain');
  const others = rest.filter(({ certainty }) => certainty !== 'certain');
  return [...certain, { ...age, certainty: 'likely' }, { ...clock, certainty: 'possible' }, ...others];
}
