import { sign, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { check, checkKnownOptions, checkObject } from 'service-webhooks/option-checks';
import type { AccountRecord, Accounts } from './api/accounts.js';
import type { Keys } from './api/keys.js';
import type { EmitTo, Emulator, EmulatorAccount, NewEndpoint } from './contract.js';
import { type Deliveries, showDelivery } from './delivery/deliveries.js';
import { type EndpointRecord, type Endpoints, moveEndpoint, showEndpoint } from './delivery/endpoints.js';
import type { Sender } from './delivery/sender.js';
import { refusedUrl } from './wire/public-url.js';

/** The members of an emulator by which a test controls it, as a person does in the service's dashboard. */
export interface Controls extends Pick<Emulator, 'endpoints' | 'deliveries' | 'accounts' | 'keys'> {
  /** @throws WebhookError `invalid_option` for an account that does not exist */
  accountOf(to: EmitTo): AccountRecord;
  /** @throws WebhookError `invalid_option` for an endpoint that does not exist */
  endpointOf(id: string): EndpointRecord;
}

export interface ControlsParts {
  accounts: Accounts;
  keys: Keys;
  endpoints: Endpoints;
  deliveries: Deliveries;
  sender: Sender;
  allowLoopback: boolean;
  remove(endpoint: EndpointRecord): void;
}

export function createControls(parts: ControlsParts): Controls {
  const { accounts, keys, endpoints, deliveries, sender, remove } = parts;

  const accountOf = ({ account }: EmitTo): AccountRecord => {
    const [first] = accounts.byId.values();
    const found = account === undefined ? first : accounts.byId.get(account);
    check(found !== undefined, `account ${account} does not exist`);
    return found;
  };
  const endpointOf = (id: string): EndpointRecord => {
    const found = endpoints.byId.get(id);
    check(found !== undefined, `endpoint ${id} does not exist`);
    return found;
  };
  const readUrl = (url: string) => {
    const reason = refusedUrl(url, parts.allowLoopback);
    const hint = reason?.includes('loopback') ? ' (allowLoopback allows it)' : '';
    check(reason === undefined, `url ${reason}${hint}`);
    return url;
  };

  return {
    accountOf,
    endpointOf,
    endpoints: {
      create(settings) {
        checkObject('endpoint', settings);
        checkKnownOptions('endpoints.create', settings, ['url', 'events', 'signingSecret', 'account']);
        const { url, events = WEBHOOK_EVENT_TYPES, signingSecret: secret } = settings;
        check(secret === undefined || typeof secret === 'string', 'signingSecret must be a string');
        if (secret !== undefined) sign({ body: '', secret }); // checks the secret
        const accountId = accountOf(settings).id;
        const created = endpoints.create({ accountId, url: readUrl(url), events: readEvents(events), secret });
        return { ...showEndpoint(created), signingSecret: created.secret };
      },
      update(id, changes) {
        const endpoint = endpointOf(id);
        checkObject('changes', changes);
        checkKnownOptions('endpoints.update', changes, ['url', 'events']);
        const url = changes.url === undefined ? endpoint.url : readUrl(changes.url);
        const events = changes.events === undefined ? endpoint.events : readEvents(changes.events);
        return showEndpoint(Object.assign(endpoint, { url, events }));
      },
      get(id) {
        const found = endpoints.byId.get(id);
        return found && showEndpoint(found);
      },
      list: () => [...endpoints.byId.values()].map(showEndpoint),
      remove: (id) => remove(endpointOf(id)),
      pause: (id) => moveEndpoint(endpointOf(id), 'pause'),
      enable(id) {
        const endpoint = endpointOf(id);
        moveEndpoint(endpoint, 'enable');
        sender.resume(endpoint);
      },
    },
    deliveries: {
      list(filter = {}) {
        checkObject('filter', filter);
        checkKnownOptions('deliveries.list', filter, ['state', 'endpointId', 'eventId']);
        return [...deliveries.all()]
          .map(showDelivery)
          .filter(
            ({ state, endpointId, eventId }) =>
              (filter.state ?? state) === state &&
              (filter.endpointId ?? endpointId) === endpointId &&
              (filter.eventId ?? eventId) === eventId,
          );
      },
      get(id) {
        const found = deliveries.get(id);
        return found && showDelivery(found);
      },
      redeliver(id) {
        deliveries.checkRoom(1);
        const found = deliveries.get(id);
        check(found !== undefined && sender.redeliver(found), `delivery ${id} is not dead or lost, or no longer kept`);
        return showDelivery(found);
      },
    },
    accounts: {
      create: (settings = {}) => showAccount(accounts.create(settings)),
      update: (id, settings) => showAccount(accounts.update(id, settings)),
      list: () => [...accounts.byId.values()].map(showAccount),
    },
    keys: {
      create(settings = {}) {
        checkObject('settings', settings);
        return keys.create(accountOf(settings), settings);
      },
      revoke: (key) => check(keys.revoke(key), 'key is unknown: pass a key that keys.create returned'),
    },
  };
}

function readEvents(events: NewEndpoint['events']): string[] {
  const isType = (type: unknown) => typeof type === 'string' && type !== '';
  check(
    Array.isArray(events) && events.length > 0 && [...events].every(isType),
    'events must be a list of event types',
  );
  return [...new Set<string>(events)];
}

function showAccount({ id, settings }: AccountRecord): EmulatorAccount {
  return { id, settings: { ...settings } };
}
