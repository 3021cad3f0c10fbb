import type { DedupeStore } from 'service-webhooks';

/** The store of one case: the store, and another client of the same backend. */
export interface StoreUnderTest {
  store: DedupeStore;
  /** The same store on another client. Only a store of scope `'process'` needs none. */
  store2?: DedupeStore | undefined;
  /** Called after the case: closes the clients. */
  close?: (() => void | Promise<void>) | undefined;
}

/** How the suite creates a store, and how it can disturb it. A case whose hook is missing says so in `skip`. */
export interface StoreSuiteOptions<Made extends StoreUnderTest = StoreUnderTest> {
  /** Creates a store. Called once for each case. All cases may share one backend, because every key is new. */
  make(): Made | Promise<Made>;
  /** Moves the clock of the store. Without it the suite waits for short leases to end. */
  advance?: ((made: Made, ms: number) => void | Promise<void>) | undefined;
  /** Removes a row as an eviction or a failover would. */
  evict?: ((made: Made, key: string) => unknown) | undefined;
  /** Returns the stored row, to check that nothing was written. Without it the suite uses `inspect`. */
  raw?: ((made: Made, key: string) => unknown) | undefined;
  /** Returns a store on the same data after every client or the server has died. */
  restart?: ((made: Made) => DedupeStore | Promise<DedupeStore>) | undefined;
  /** Cuts the connections, or drops what the server has cached. The store must recover. */
  disconnect?: ((made: Made) => void | Promise<void>) | undefined;
  /** Returns a store whose server cannot be reached. */
  unreachable?: (() => DedupeStore | Promise<DedupeStore>) | undefined;
  /** The optional members that the store does not have. `'saveReport'` stands for `loadReports` too. */
  without?: readonly ('inspect' | 'forget' | 'purgeExpired' | 'saveReport' | 'jobs')[] | undefined;
  /** Whether the backend removes expired rows by itself, so that `purgeExpired` may find none. */
  expiresByItself?: boolean | undefined;
  /**
   * How far apart the clocks of receivers may be, in milliseconds. Default: 600 000 (ten minutes). A store that uses
   * the clocks of its clients sets the difference that it tolerates.
   */
  clockSkewMs?: number | undefined;
  /** The number of keys on which each race runs. Default: 200. */
  rounds?: number | undefined;
}
