import type { Sending } from '../faults.js';
import type { Judge } from './judge.js';
import type { Requests } from './requests.js';

/** One thing that an endpoint has to get right; a row of the tables in `docs/cli.md`. */
export interface Probe {
  name: string;
  /** What is sent. */
  says: string;
  requests(from: Requests): readonly Sending[];
  /** All requests at once, and not one after the other. */
  atOnce?: true;
  judge: Judge;
  /** What to do about it when it fails. */
  fix: string;
}
