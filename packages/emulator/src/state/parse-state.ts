import { check } from 'service-webhooks/option-checks';
import { createRateWindows } from '../api/rate-windows.js';
import { DELIVERY_TRANSITIONS, ENDPOINT_TRANSITIONS } from '../delivery/delivery-states.js';
import { createTotals } from '../totals.js';
import { FORMAT, type State } from './state.js';

/** The fields of the records in a state. */
const FIELDS = {
  accounts: { id: 'string', settings: 'object', windows: 'object' },
  keys: { hash: 'string', accountId: 'string', kind: 'string', scopes: 'array', role: 'string', revoked: 'boolean' },
  endpoints: {
    id: 'string',
    accountId: 'string',
    secret: 'string',
    url: 'string',
    events: 'array',
    state: 'string',
    deadInARow: 'number',
  },
  events: { id: 'string', type: 'string', idempotencyKey: 'string', body: 'string' },
  deliveries: {
    id: 'string',
    n: 'number',
    test: 'boolean',
    createdAt: 'number',
    state: 'string',
    attempts: 'number',
    redeliveries: 'number',
    event: 'number',
    endpointId: 'string',
    dueInMs: 'number',
  },
} as const;

const DELIVERY_STATES: readonly string[] = DELIVERY_TRANSITIONS.flatMap(({ from, to }) => [from, to]);
const ENDPOINT_STATES: readonly string[] = ENDPOINT_TRANSITIONS.flatMap(({ from, to }) => [from, to]);

/** Parses a saved state. @throws WebhookError `invalid_option` for any other file */
export function parseState(text: string): State {
  const state = parseJson(text) as State | undefined;
  check(state?.format === FORMAT, 'path: the file is not a saved state of an emulator');
  // An earlier version of the emulator has not counted lost deliveries.
  if (typeof state.totals === 'object' && state.totals !== null) state.totals.lost ??= 0;
  const damaged = Object.entries(FIELDS).find(([list, fields]) => !isListOf(state[list as keyof State], fields))?.[0];
  check(damaged === undefined, `path: the state is damaged in its ${damaged}`);
  const { savedAt, totals, accounts, endpoints, deliveries } = state;
  check(
    Number.isFinite(savedAt) &&
      hasNumbers(totals, createTotals()) &&
      accounts.length > 0 &&
      accounts.every(({ windows }) => hasNumbers(windows, createRateWindows())) &&
      endpoints.every(isEndpoint) &&
      deliveries.every((delivery) => DELIVERY_STATES.includes(delivery.state)),
    'path: the state is damaged',
  );
  return state;
}

function isEndpoint({ state, url, secret }: State['endpoints'][number]): boolean {
  return ENDPOINT_STATES.includes(state) && URL.canParse(url) && /^\S+$/.test(secret);
}

function isListOf(list: unknown, fields: Readonly<Record<string, string>>): boolean {
  return Array.isArray(list) && list.every((item) => hasFields(item, fields));
}

function hasFields(item: unknown, fields: Readonly<Record<string, string>>): boolean {
  if (typeof item !== 'object' || item === null) return false;
  const values: Partial<Record<string, unknown>> = { ...item };
  return Object.entries(fields).every(([name, kind]) => kindOf(values[name]) === kind);
}

function hasNumbers(item: unknown, like: object): boolean {
  return hasFields(item, Object.fromEntries(Object.keys(like).map((name) => [name, 'number'])));
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
