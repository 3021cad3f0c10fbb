import type { DedupeStore } from 'service-webhooks';
import type { Ask } from '../placed.js';
import type { ServerUrl } from '../server-url.js';

/** A store whose jobs the command line can open. */
export interface JobStoreEngine {
  name: string;
  /** The URLs that it takes; absent where the address is a file. */
  url?: ServerUrl;
  /** Opens a store that exists, and creates nothing. */
  open(place: StorePlace): Promise<Pick<OpenedStore, 'store' | 'close'>>;
  /** Whether an error says that the store has no table of jobs. */
  isMissing?(error: unknown): boolean;
}

/** Where a store is. */
export interface StorePlace {
  address: string;
  /** The table of the store, whose name that of its jobs begins with. */
  table?: string | undefined;
  /** The beginning of its keys in Redis. */
  prefix?: string | undefined;
}

/** A store of the project. */
export interface OpenedStore {
  store: DedupeStore;
  /** Makes what fails in a call a Failure that says what does not answer. */
  ask: Ask;
  close(): Promise<unknown>;
}
