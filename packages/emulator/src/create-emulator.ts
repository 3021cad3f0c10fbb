import { readFile } from 'node:fs/promises';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { check, checkChoice, checkKnownOptions, checkObject } from 'service-webhooks/option-checks';
import { createAccounts } from './api/accounts.js';
import { createApi } from './api/api.js';
import { createAuthenticate } from './api/authentication.js';
import { createFetchHandler, createHttpServer } from './api/http-server.js';
import { createJobRoutes } from './api/job-routes.js';
import { createKeys } from './api/keys.js';
import { createRoutes } from './api/routes.js';
import { createScripts } from './api/scripts.js';
import type { EmitTo, Emitted, Emulator } from './contract.js';
import { createControls } from './controls.js';
import { createAttemptLog } from './delivery/attempt-log.js';
import { createDeliveries, showDelivery } from './delivery/deliveries.js';
import { newEvent, type Overrides } from './delivery/emitted-event.js';
import { createEndpoints, type EndpointRecord } from './delivery/endpoints.js';
import { createSender } from './delivery/sender.js';
import { createFaults } from './faults.js';
import { type EmulatorOptions, readOptions } from './options.js';
import { createRandom } from './random.js';
import { parseState } from './state/parse-state.js';
import { restoreState, takeState, writeStateFile } from './state/state.js';
import { createClock, LAST_INSTANT } from './time/clock.js';
import { createRequestPool } from './time/request-pool.js';
import { createTotals } from './totals.js';
import { createFetchTransport } from './wire/fetch-transport.js';
import { createHttpTransport } from './wire/http-transport.js';

/**
 * Creates an emulator of the service on your own machine. It signs and delivers events with the service's retries, and
 * answers its API. `docs/emulator.md` describes what it does and what it leaves out.
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
  const { allowLoopback, keep, seed, headerPrefix } = settings;
  const random = createRandom(seed);
  const totals = createTotals();
  const pool = createRequestPool(settings.concurrency);
  const clock = createClock({ speed: settings.speed, startAt: settings.startAt, settled: pool.settled });
  const transport = settings.fetch ? createFetchTransport(settings.fetch) : createHttpTransport(settings);

  const accounts = createAccounts(random, totals);
  const keys = createKeys(random, totals);
  const endpoints = createEndpoints(random, totals);
  const deliveries = createDeliveries({ random, maxPending: settings.maxPending, keep });
  const log = createAttemptLog({ maxItems: keep.attempts, maxBytes: keep.bytes });
  const remove = (endpoint: EndpointRecord) => {
    deliveries.removeOf(endpoint);
    log.forget(endpoint.id);
    endpoints.byId.delete(endpoint.id);
  };

  let faultsNow = createFaults(settings.faults, seed);
  const sender = createSender({
    clock,
    pool,
    transport,
    deliveries,
    log,
    totals,
    headerPrefix,
    renewTimestamp: settings.renewTimestamp,
    hangAfterMs: settings.hangAfterMs,
    faults: () => faultsNow,
  });
  const controls = createControls({ accounts, keys, endpoints, deliveries, sender, allowLoopback, remove });
  const apiKey = settings.apiKey ?? random.secret('acct', 0);
  keys.put(accounts.create(settings.account), apiKey);

  const scripts = createScripts();
  const api = createApi({
    clock,
    random,
    totals,
    scripts,
    headerPrefix,
    authenticate: createAuthenticate(keys, accounts, headerPrefix),
    routes: [...createRoutes({ endpoints, allowLoopback, remove }), ...createJobRoutes(deliveries)],
    deniedIps: settings.deniedIps,
    maxBodyBytes: settings.maxBodyBytes,
  });
  const server = createHttpServer(api, settings);

  const stateParts = { clock, totals, accounts, keys, endpoints, deliveries, sender };
  let closed = false;

  /** Creates an event and starts its deliveries to these endpoints. */
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
    await pool.room();
    return { event, deliveries: started.map(showDelivery) };
  }

  return {
    seed,
    apiKey,
    totals,
    attempts: log,
    endpoints: controls.endpoints,
    deliveries: controls.deliveries,
    accounts: controls.accounts,
    keys: controls.keys,
    now: clock.now,
    async advance(ms) {
      check(Number.isFinite(ms) && ms >= 0, 'ms must be 0 or more');
      check(clock.now() + ms <= LAST_INSTANT, 'ms goes beyond the year 9999');
      await clock.advance(ms);
    },
    runUntilIdle: clock.runUntilIdle,
    settled: pool.settled,
    async emit(type: string, overrides: Overrides = {}, to: EmitTo = {}): Promise<Emitted> {
      checkObject('overrides', overrides);
      checkObject('to', to);
      checkKnownOptions('the third argument of emit', to, ['account']);
      const { id } = controls.accountOf(to);
      const subscribed = endpoints.ofAccount(id).filter(({ events }) => events.includes(type));
      return send(subscribed, type, overrides, false);
    },
    async sendTest(endpointId, type) {
      const endpoint = controls.endpointOf(endpointId);
      if (type !== undefined) checkChoice('type', type, WEBHOOK_EVENT_TYPES);
      const sent = await send([endpoint], type ?? endpoint.events[0] ?? '', {}, true);
      return sent.deliveries[0] as Emitted['deliveries'][number];
    },
    setFaults(faults) {
      faultsNow = createFaults(faults, seed);
    },
    script: scripts.add,
    fetch: createFetchHandler(api, settings),
    async listen(port = 0) {
      check(!closed, 'the emulator is closed');
      return server.listen(port);
    },
    save: (path) => writeStateFile(path, JSON.stringify(takeState(stateParts))),
    async load(path) {
      restoreState(parseState(await readFile(path, 'utf8')), stateParts);
      log.forget();
      keys.put(controls.accountOf({}), apiKey);
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
