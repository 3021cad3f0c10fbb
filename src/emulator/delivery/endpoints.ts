import type { Random } from '../random.js';
import type { Totals } from '../totals.js';
import {
  ENDPOINT_TRANSITIONS,
  type EndpointState,
  type EndpointTransition,
  findTransition,
} from './delivery-states.js';
import { PAUSE_AFTER_DEAD } from './schedule.js';

/** A webhook endpoint (specification, section 2.3). */
export interface EndpointRecord {
  readonly id: string;
  readonly accountId: string;
  readonly secret: string;
  url: string;
  events: readonly string[];
  state: EndpointState;
  /** Dead deliveries since the last success. */
  deadInARow: number;
}

/** What can be seen of an endpoint. */
export type EmulatorEndpoint = Omit<Readonly<EndpointRecord>, 'secret'>;

/** Without a secret it gets a new one. */
type NewRecord = Pick<EndpointRecord, 'accountId' | 'url' | 'events'> & { secret?: string | undefined };

export interface Endpoints {
  create(endpoint: NewRecord): EndpointRecord;
  restore(endpoint: EndpointRecord): void;
  get(id: string): EndpointRecord | undefined;
  of(accountId: string): EndpointRecord[];
  all(): Iterable<EndpointRecord>;
  remove(endpoint: EndpointRecord): void;
  clear(): void;
}

export function createEndpoints(random: Random, totals: Totals): Endpoints {
  const byId = new Map<string, EndpointRecord>();
  return {
    create(given) {
      totals.endpoints += 1;
      const endpoint: EndpointRecord = {
        ...given,
        id: random.id('wh', totals.endpoints),
        secret: given.secret ?? random.secret('whsec', totals.endpoints),
        state: 'active',
        deadInARow: 0,
      };
      byId.set(endpoint.id, endpoint);
      return endpoint;
    },
    restore: (endpoint) => byId.set(endpoint.id, endpoint),
    get: (id) => byId.get(id),
    of: (accountId) => [...byId.values()].filter((endpoint) => endpoint.accountId === accountId),
    all: () => byId.values(),
    remove: ({ id }) => byId.delete(id),
    clear: () => byId.clear(),
  };
}

/** Moves an endpoint to its next state. */
export function moveEndpoint(endpoint: EndpointRecord, on: EndpointTransition['on']): void {
  const row = findTransition(
    ENDPOINT_TRANSITIONS,
    endpoint.state,
    on,
    (condition) => condition === 'always' || endpoint.deadInARow >= PAUSE_AFTER_DEAD,
  );
  if (row === undefined) return;
  endpoint.state = row.to;
  if (row.to === 'active') endpoint.deadInARow = 0;
}

export function showEndpoint({ secret: _, ...shown }: EndpointRecord): EmulatorEndpoint {
  return { ...shown };
}
