import type { DedupeStore } from '../stores/contract.js';

/** What `make` gives for one case: a store, and another client of the same backend. */
export interface StoreUnderTest {
  store: DedupeStore;
  /** Made from a client of its own. Only a store of scope `'process'` goes without. */
  store2?: DedupeStore | undefined;
  /** Called after the case: closes the clients. */
  close?: (() => void | Promise<void>) | undefined;
}

/** How a store is made for the suite, and what can be done to it. A case whose hook is missing says so in `skip`. */
export interface StoreSuiteOptions<Made extends StoreUnderTest = StoreUnderTest> {
  /** Called once for each case. The backend may be one for all: every key is new. */
  make(): Made | Promise<Made>;
  /** Moves the store's clock, where it can be moved. Without it the suite waits for short leases to end. */
  advance?: ((made: Made, ms: number) => void | Promise<void>) | undefined;
  /** Removes a row as an eviction or a failover would. */
  evict?: ((made: Made, key: string) => unknown) | undefined;
  /** The row as it is stored, to see that nothing wrote to it. Without it `inspect` is asked. */
  raw?: ((made: Made, key: string) => unknown) | undefined;
  /** A store on the same data after the death of every client, or of the server. */
  restart?: ((made: Made) => DedupeStore | Promise<DedupeStore>) | undefined;
  /** Cuts the connections, or drops what the server has cached. The store has to recover. */
  disconnect?: ((made: Made) => void | Promise<void>) | undefined;
  /** A store whose server cannot be reached. */
  unreachable?: (() => DedupeStore | Promise<DedupeStore>) | undefined;
  /** The optional methods it does not have. */
  without?: readonly ('inspect' | 'forget' | 'purgeExpired')[] | undefined;
  /** The backend removes expired rows by itself, so that `purgeExpired` may find none. */
  expiresByItself?: boolean | undefined;
  /**
   * How far apart the clocks of receivers may be, in milliseconds; ten minutes. A store that goes by its clients'
   * clocks names what it allows for.
   */
  clockSkewMs?: number | undefined;
  /** How many keys each race is run on; 200. */
  rounds?: number | undefined;
}
