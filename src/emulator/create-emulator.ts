import { check, checkChoice, checkObject } from '../check.js';
import { type Envelope, WEBHOOK_EVENT_TYPES } from '../event.js';
import { createAccounts } from './api/accounts.js';
import { createApi } from './api/api.js';
import { createApiFetch } from './api/api-fetch.js';
import { createApiServer } from './api/api-server.js';
import { createAuthenticate } from './api/authenticate.js';
import { createKeys } from './api/keys.js';
import { createScripts } from './api/scripts.js';
import { createRouteHandlers } from './api/webhook-routes.js';
import { createDashboard } from './dashboard.js';
import { createAttemptLog } from './delivery/attempt-log.js';
import { createDeliveries, showDelivery } from './delivery/deliveries.js';
import { createEndpoints, type EndpointRecord } from './delivery/endpoints.js';
import { newEvent } from './delivery/events.js';
import { createSender } from './delivery/sender.js';
import type { EmitTo, Emitted, Emulator } from './emulator.js';
import { createFaults } from './faults.js';
import { type EmulatorOptions, readOptions } from './options.js';
import { createRandom } from './random.js';
import { parseState } from './state/parse-state.js';
import { restoreState, takeState } from './state/state.js';
import { readWhole, writeWhole } from './state/state-file.js';
import { createClock, LAST_INSTANT } from './time/clock.js';
import { createWork } from './time/work.js';
import { createTotals } from './totals.js';
import { createFetchTransport } from './wire/fetch-transport.js';
import { createHttpTransport } from './wire/http-transport.js';

/**
 * Makes the service on your own machine: it delivers events as the service does (specification, sections 3.1 and 6)
 * and answers its API (sections 4 to 8).
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const emulator = createEmulator({ allowLoopback: true });
 * const { signingSecret } = emulator.endpoints.create({ url: 'http://127.0.0.1:3000/webhooks' });
 * await emulator.emit('generation.completed');
 * await emulator.runUntilIdle(); // five hours of retries, if it takes them
 * console.log(emulator.attempts.list());
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const settings = readOptions(options);
  const { allowLoopback, keep, seed } = settings;
  const random = createRandom(seed);
  const totals = createTotals();
  const scripts = createScripts();
  const work = createWork(settings.concurrency);
  const clock = createClock({ ...settings, settled: work.settled });
  const transport = options.fetch ? createFetchTransport(options.fetch) : createHttpTransport(settings);
  const log = createAttemptLog({ maxItems: keep.attempts, maxBytes: keep.bytes });
  const deliveries = createDeliveries({ ...settings, random });
  const endpoints = createEndpoints(random, totals);
  const accounts = createAccounts(random, totals);
  const keys = createKeys(random, totals);
  let planFaults = createFaults(settings.faults, seed);
  const sender = createSender({
    ...settings,
    ...{ clock, work, transport, deliveries, log, totals },
    planFaults: (...place) => planFaults(...place),
  });

  const remove = (endpoint: EndpointRecord) => {
    deliveries.removeOf(endpoint);
    log.forget(endpoint.id);
    endpoints.remove(endpoint);
  };
  const dashboard = createDashboard({ accounts, keys, endpoints, deliveries, sender, allowLoopback, remove });
  const apiKey = settings.apiKey ?? random.secret('acct', 0);
  keys.put(accounts.create(settings.account), apiKey);

  const api = createApi({
    ...settings,
    ...{ clock, random, totals, scripts },
    authenticate: createAuthenticate(keys, accounts, settings.headerPrefix),
    handlers: createRouteHandlers({ endpoints, allowLoopback, remove }),
  });
  const server = createApiServer(api, settings);
  const stateParts = { clock, totals, accounts, keys, endpoints, deliveries, sender };
  let closed = false;

  /** A new event on its way to these endpoints. */
  async function send(targets: readonly EndpointRecord[], type: string, overrides: Overrides, test: boolean) {
    check(!closed, 'the emulator is closed');
    deliveries.checkRoom(targets.length);
    const createdAt = clock.now();
    const { event, emitted } = newEvent(random, totals.events + 1, type, overrides, createdAt);
    totals.events += 1;
    const started = targets.map((endpoint) => {
      totals.deliveries += 1;
      return sender.start({ n: totals.deliveries, event: emitted, endpoint, test, createdAt });
    });
    await work.room();
    return { event, deliveries: started.map(showDelivery) };
  }

  return {
    seed,
    apiKey,
    totals,
    attempts: log,
    endpoints: dashboard.endpoints,
    deliveries: dashboard.deliveries,
    accounts: dashboard.accounts,
    keys: dashboard.keys,
    now: clock.now,
    async advance(ms) {
      check(Number.isFinite(ms) && ms >= 0, 'ms must be 0 or more');
      check(clock.now() + ms <= LAST_INSTANT, 'ms goes beyond the year 9999');
      await clock.advance(ms);
    },
    runUntilIdle: clock.runUntilIdle,
    settled: work.settled,
    async emit(type: string, overrides: Overrides = {}, to: EmitTo = {}): Promise<Emitted> {
      checkObject('overrides', overrides);
      const subscribed = endpoints.of(dashboard.accountOf(to).id).filter(({ events }) => events.includes(type));
      return send(subscribed, type, overrides, false);
    },
    async sendTest(endpointId, type) {
      const endpoint = dashboard.endpoint(endpointId);
      if (type !== undefined) checkChoice('type', type, WEBHOOK_EVENT_TYPES);
      const sent = await send([endpoint], type ?? endpoint.events[0] ?? '', {}, true);
      return sent.deliveries[0] as Emitted['deliveries'][number];
    },
    setFaults(faults) {
      planFaults = createFaults(faults, seed);
    },
    script: scripts.add,
    fetch: createApiFetch(api, settings),
    async listen(port = 0) {
      check(!closed, 'the emulator is closed');
      return server.listen(port);
    },
    save: (path) => writeWhole(path, JSON.stringify(takeState(stateParts))),
    async load(path) {
      restoreState(parseState(await readWhole(path)), stateParts);
      log.forget();
      keys.put(dashboard.accountOf({}), apiKey);
    },
    async close() {
      closed = true;
      sender.stop();
      clock.stop();
      transport.close();
      log.close();
      await server.close();
    },
  };
}

type Overrides = Partial<Omit<Envelope, 'type'>>;
