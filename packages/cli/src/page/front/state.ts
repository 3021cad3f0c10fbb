import type { ActionName, DeliveryRow, DeliveryState, Overview, Start } from '../page-source.js';

/** What the page shows. */
export interface State {
  /** Empty until it is known. */
  title: string;
  start: Start | undefined;
  /** The actions of this source. */
  offers: readonly ActionName[];
  overview: Overview;
  /** When `overview` arrived, by the clock of the browser. */
  overviewAt: number;
  connection: 'opening' | 'open' | 'lost';
  /** The number of deliveries; those that match the filter are `visible`, the newest first. */
  total: number;
  visible: readonly DeliveryRow[];
  /** How many are dead. */
  dead: number;
  /** How many deliveries have come since the page was opened. */
  arrivals: number;
  /** Counts the changes of the deliveries. */
  revision: number;
  query: string;
  /** The deliveries with this query in a body, a header or an answer, which the server has found. */
  found: { query: string; ids: ReadonlySet<string> } | undefined;
  /** `has-failed`: at least one attempt was not acknowledged. */
  only: DeliveryState | 'all' | 'has-failed';
  /** A type of events; empty for all. */
  type: string;
  /** Only deliveries of the last so many milliseconds; 0 for all. */
  since: number;
  selected: string | undefined;
  /** The attempt of the selected delivery that is shown; the newest if undefined. */
  attempt: string | undefined;
  /** The attempt with which that one is compared. */
  compared: string | undefined;
  /** The result of the last action. */
  message: { text: string; failed: boolean } | undefined;
}

export type Filter = Pick<State, 'query' | 'only' | 'type' | 'since'>;

export const NO_FILTER: Filter = { query: '', only: 'all', type: '', since: 0 };
