import { PAUSE_AFTER_DEAD } from 'service-webhooks/service';
import type { Random } from '../random.js';
import type { Totals } from '../totals.js';
import {
  type Conditions,
  ENDPOINT_TRANSITIONS,
  type EndpointState,
  type EndpointTransition,
  findTransition,
} from './delivery-states.js';

/** A webhook endpoint with its secret. */
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

/** An endpoint, as the emulator's methods return it. */
export type EmulatorEndpoint = Omit<Readonly<EndpointRecord>, 'secret'>;

/** Without a secret, the endpoint gets a new one. */
type NewRecord = Pick<EndpointRecord, 'accountId' | 'url' | 'events'> & { secret?: string | undefined };

export interface Endpoints {
  readonly byId: Map<string, EndpointRecord>;
  create(endpoint: NewRecord): EndpointRecord;
  ofAccount(accountId: string): EndpointRecord[];
}

export function createEndpoints(random: Random, totals: Totals): Endpoints {
  const byId = new Map<string, EndpointRecord>();
  return {
    byId,
    create({ accountId, url, events, secret }) {
      totals.endpoints += 1;
      const endpoint: EndpointRecord = {
        accountId,
        url,
        events,
        id: random.id('wh', totals.endpoints),
        secret: secret ?? random.secret('whsec', totals.endpoints),
        state: 'active',
        deadInARow: 0,
      };
      byId.set(endpoint.id, endpoint);
      return endpoint;
    },
    ofAccount: (accountId) => [...byId.values()].filter((endpoint) => endpoint.accountId === accountId),
  };
}

const CONDITIONS: Conditions<EndpointTransition, EndpointRecord> = {
  '20 in a row': ({ deadInARow }) => deadInARow >= PAUSE_AFTER_DEAD,
  always: () => true,
};

/** Moves an endpoint to its next state, as {@link ENDPOINT_TRANSITIONS} lists it. Without a row, nothing changes. */
export function moveEndpoint(endpoint: EndpointRecord, event: EndpointTransition['on']): void {
  const row = findTransition(ENDPOINT_TRANSITIONS, CONDITIONS, endpoint, event);
  if (row === undefined) return;
  endpoint.state = row.to;
  if (row.also === 'reset dead count') endpoint.deadInARow = 0;
}

/** Counts a dead delivery. Enough consecutive ones pause the endpoint. */
export function countDeadDelivery(endpoint: EndpointRecord): void {
  endpoint.deadInARow += 1;
  moveEndpoint(endpoint, 'dead delivery');
}

export function showEndpoint({ secret: _, ...shown }: EndpointRecord): EmulatorEndpoint {
  return shown;
}
