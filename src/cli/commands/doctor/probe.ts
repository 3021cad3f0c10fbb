import type { Sending } from '../../faults.js';
import type { Judge } from './judge.js';
import type { Requests } from './requests.js';

/** One requirement for an endpoint; a row of the tables in `docs/cli.md`. */
export interface Probe {
  name: string;
  /** The request, in words. */
  says: string;
  requests(from: Requests): readonly Sending[];
  /** Sends all requests at the same time, and not one after the other. */
  atOnce?: true;
  judge: Judge;
  /** What to do if it fails. */
  fix: string;
}
