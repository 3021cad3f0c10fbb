import { check, checkObject } from '../check.js';
import { WEBHOOK_EVENT_TYPES } from '../event.js';
import { toKeys } from '../secret.js';
import type { AccountRecord, Accounts } from './api/accounts.js';
import type { Keys } from './api/keys.js';
import { type Deliveries, showDelivery } from './delivery/deliveries.js';
import { type EndpointRecord, type Endpoints, moveEndpoint, showEndpoint } from './delivery/endpoints.js';
import type { Sender } from './delivery/sender.js';
import type { EmitTo, Emulator, EmulatorAccount, NewEndpoint } from './emulator.js';
import { refusedUrl } from './wire/public-url.js';

/** What a person does by hand, and sees. */
export interface Dashboard extends Pick<Emulator, 'endpoints' | 'deliveries' | 'accounts' | 'keys'> {
  /** @throws WebhookError `invalid_option`, as the next two */
  accountOf(to: EmitTo): AccountRecord;
  endpoint(id: string): EndpointRecord;
}

export interface DashboardParts {
  accounts: Accounts;
  keys: Keys;
  endpoints: Endpoints;
  deliveries: Deliveries;
  sender: Sender;
  allowLoopback: boolean;
  remove(endpoint: EndpointRecord): void;
}

export function createDashboard(parts: DashboardParts): Dashboard {
  const { accounts, keys, endpoints, deliveries, sender, remove } = parts;

  const accountOf = (to: EmitTo): AccountRecord => {
    checkObject('settings', to);
    const { account } = to;
    const [first] = accounts.all();
    const found = account === undefined ? first : accounts.get(account);
    check(found !== undefined, `account ${account} does not exist`);
    return found;
  };
  const endpoint = (id: string): EndpointRecord => {
    const found = endpoints.get(id);
    check(found !== undefined, `endpoint ${id} does not exist`);
    return found;
  };
  const readUrl = (url: string) => {
    const reason = refusedUrl(url, parts.allowLoopback);
    const hint = reason?.includes('loopback') ? ' (allowLoopback lets it pass)' : '';
    check(reason === undefined, `url ${reason}${hint}`);
    return url;
  };

  return {
    accountOf,
    endpoint,
    endpoints: {
      create(given) {
        checkObject('endpoint', given);
        const { url, events = WEBHOOK_EVENT_TYPES, signingSecret: secret, ...to } = given;
        check(secret === undefined || typeof secret === 'string', 'signingSecret must be a string');
        if (secret !== undefined) toKeys(secret);
        const read = { accountId: accountOf(to).id, url: readUrl(url), events: readEvents(events) };
        const created = endpoints.create({ ...read, secret });
        return { ...showEndpoint(created), signingSecret: created.secret };
      },
      update(id, given) {
        const changed = endpoint(id);
        checkObject('changes', given);
        const { url, events } = given;
        const changes = {
          ...(url !== undefined && { url: readUrl(url) }),
          ...(events !== undefined && { events: readEvents(events) }),
        };
        return showEndpoint(Object.assign(changed, changes));
      },
      get(id) {
        const found = endpoints.get(id);
        return found && showEndpoint(found);
      },
      list: () => [...endpoints.all()].map(showEndpoint),
      remove: (id) => remove(endpoint(id)),
      pause: (id) => void moveEndpoint(endpoint(id), 'pause'),
      enable(id) {
        const enabled = endpoint(id);
        moveEndpoint(enabled, 'enable');
        sender.resume(enabled);
      },
    },
    deliveries: {
      list: (filter = {}) =>
        [...deliveries.all()]
          .map(showDelivery)
          .filter(
            ({ state, endpointId, eventId }) =>
              (filter.state ?? state) === state &&
              (filter.endpointId ?? endpointId) === endpointId &&
              (filter.eventId ?? eventId) === eventId,
          ),
      get(id) {
        const found = deliveries.get(id);
        return found && showDelivery(found);
      },
      redeliver(id) {
        deliveries.checkRoom(1);
        const found = deliveries.get(id);
        check(found !== undefined && sender.redeliver(found), `delivery ${id} is not dead, or no longer kept`);
        return showDelivery(found);
      },
    },
    accounts: {
      create: (settings = {}) => showAccount(accounts.create(settings)),
      update: (id, settings) => showAccount(accounts.update(id, settings)),
      list: () => [...accounts.all()].map(showAccount),
    },
    keys: {
      create: (settings = {}) => keys.create(accountOf(settings), settings),
      revoke: (key) => check(keys.revoke(key), 'key: there is none like this'),
    },
  };
}

function readEvents(events: NewEndpoint['events']): string[] {
  const isType = (type: unknown) => typeof type === 'string' && type !== '';
  const holds = Array.isArray(events) && events.length > 0 && [...events].every(isType);
  check(holds, 'events must be types of events');
  return [...new Set<string>(events)];
}

function showAccount({ id, settings }: AccountRecord): EmulatorAccount {
  return { id, settings: { ...settings } };
}
