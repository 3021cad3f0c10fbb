/** What has been counted since the emulator was made. */
export interface Totals {
  accounts: number;
  keys: number;
  endpoints: number;
  /** Events that were emitted, whether anybody had subscribed to them or not. */
  events: number;
  deliveries: number;
  /** Requests to receivers, those that a fault sent twice included. */
  attempts: number;
  /** Of the attempts: sent a second time by a fault. */
  duplicates: number;
  /** Of the attempts: answered with 2xx in time. */
  acknowledged: number;
  /** Of the attempts: everything else. */
  failed: number;
  delivered: number;
  dead: number;
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
    requests: 0,
  };
}
