/** Counts since the emulator was created. */
export interface Totals {
  accounts: number;
  keys: number;
  endpoints: number;
  /** Emitted events, with and without a subscribed endpoint. */
  events: number;
  deliveries: number;
  /** Requests to receivers, including those of the fault `duplicate`. */
  attempts: number;
  /** The attempts that the fault `duplicate` sent. */
  duplicates: number;
  /** The attempts that were answered with 2xx in time. */
  acknowledged: number;
  /** All other attempts. */
  failed: number;
  delivered: number;
  dead: number;
  /** The deliveries that the fault `never` has lost. One that is redelivered is counted under its later state, too. */
  lost: number;
  /** Requests to the API. */
  requests: number;
}

export function createTotals(): Totals {
  return {
    accounts: 0,
    keys: 0,
    endpoints: 0,
    events: 0,
    deliveries: 0,
    attempts: 0,
    duplicates: 0,
    acknowledged: 0,
    failed: 0,
    delivered: 0,
    dead: 0,
    lost: 0,
    requests: 0,
  };
}
