import { durationOf } from '../../duration.js';

const MINUTE_MS = 60_000;

/** Returns `12 s ago`, `1 h 4 min ago`, `5 d 3 h ago`: no seconds from a minute on. */
export function agoOf(ms: number): string {
  if (ms < 1_000) return 'now';
  return `${durationOf(ms < MINUTE_MS ? ms : ms - (ms % MINUTE_MS))} ago`;
}
