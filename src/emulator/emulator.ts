import type { Envelope, EventType, WebhookEvent } from '../event.js';
import type { EventOverrides } from '../testing/sample-event.js';
import type { AccountSettings } from './api/accounts.js';
import type { Listening } from './api/api-server.js';
import type { KeySettings } from './api/keys.js';
import type { Script } from './api/scripts.js';
import type { Attempts } from './delivery/attempt-log.js';
import type { EmulatorDelivery } from './delivery/deliveries.js';
import type { DeliveryState } from './delivery/delivery-states.js';
import type { EmulatorEndpoint } from './delivery/endpoints.js';
import type { Faults } from './faults.js';
import type { Totals } from './totals.js';

/** The service on your own machine. */
export interface Emulator {
  /** What ids, secrets and faults follow from. */
  readonly seed: string;
  /** A key with every scope; a sandbox key where the account's plan has no other. */
  readonly apiKey: string;
  readonly endpoints: EmulatorEndpoints;
  readonly deliveries: EmulatorDeliveries;
  readonly attempts: Attempts;
  readonly accounts: EmulatorAccounts;
  readonly keys: EmulatorKeys;
  /** What has been counted since the emulator was made. */
  readonly totals: Readonly<Totals>;

  /** The emulator's time, in milliseconds since the epoch. A function of its own: give it to `verify` as `now`. */
  readonly now: () => number;
  /**
   * Lets that much time pass at once: attempts that fall due are made in their order, each after what was before it
   * is answered. With a real clock the waits get shorter by as much, and `now` stays what it is.
   */
  advance(ms: number): Promise<void>;
  /** {@link Emulator.advance} until no attempt is due any more. What a paused endpoint holds back stays. */
  runUntilIdle(): Promise<void>;
  /** Resolves when no request to a receiver is going on. */
  settled(): Promise<void>;

  /**
   * An event happens: it goes to every endpoint of the account that has subscribed to it, the first attempt at once.
   * Resolves when it is on its way; {@link Emulator.settled} waits for the answers.
   *
   * @throws WebhookError (as a rejection) `invalid_option` when more than `maxPending` deliveries are going on
   */
  emit<Type extends EventType>(type: Type, overrides?: EventOverrides<Type>, to?: EmitTo): Promise<Emitted>;
  emit(type: string, overrides?: Partial<Omit<Envelope, 'type'>>, to?: EmitTo): Promise<Emitted>;
  /**
   * Sends a sample to an endpoint, as the dashboard's test does: one attempt, also to a paused endpoint. By default the
   * first type that the endpoint has subscribed to.
   */
  sendTest(endpointId: string, type?: EventType): Promise<EmulatorDelivery>;
  /** From now on these go wrong, in place of those that did. */
  setFaults(faults: Faults): void;

  /** Has a route answer what you say. Gives a function that ends it. */
  script(script: Script): () => void;
  /** Answers a request to the API, without a socket. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Answers the API on a port of the loopback interface; by default any that is free. */
  listen(port?: number): Promise<Listening>;

  /** Writes the state to a file: whole, or not at all. Only the owner can read it, since it holds signing secrets. */
  save(path: string): Promise<void>;
  /** Puts a saved state in the place of everything there is. */
  load(path: string): Promise<void>;
  /** Ends connections, timers and iterators. Nothing is sent any more. */
  close(): Promise<void>;
}

/** What an event has become. */
export interface Emitted {
  readonly event: WebhookEvent;
  /** One for each endpoint, as they were when the event was on its way. */
  readonly deliveries: readonly EmulatorDelivery[];
}

export interface EmitTo {
  /** Id of the account; the first one. */
  account?: string | undefined;
}

/** Endpoints, as the dashboard sees them. */
export interface EmulatorEndpoints {
  /**
   * Subscribes a URL to types of events; to all sixteen unless it is said. The secret is shown here and never again.
   *
   * @throws WebhookError `invalid_option` with the reason why the URL is refused, `invalid_secret`
   */
  create(endpoint: NewEndpoint): EmulatorEndpoint & { readonly signingSecret: string };
  /** Changes the URL, the types or both. The secret stays. */
  update(id: string, changes: Pick<NewEndpoint, 'events'> & { url?: string | undefined }): EmulatorEndpoint;
  get(id: string): EmulatorEndpoint | undefined;
  list(): EmulatorEndpoint[];
  /** With its deliveries and their attempts. */
  remove(id: string): void;
  /** Holds deliveries back, as 20 dead ones in a row do. */
  pause(id: string): void;
  /** Makes a paused endpoint active: what was held back goes out. */
  enable(id: string): void;
}

export interface NewEndpoint extends EmitTo {
  url: string;
  /** Any type can be named, so that a receiver can be tried with one that is yet to come. */
  events?: readonly string[] | undefined;
  /** The secret that the receiver has already; a new one. */
  signingSecret?: string | undefined;
}

/** Deliveries that are going on, and the latest of those that are not. */
export interface EmulatorDeliveries {
  list(filter?: DeliveryFilter): EmulatorDelivery[];
  get(id: string): EmulatorDelivery | undefined;
  /**
   * Starts a dead delivery again, from attempt 1: same event, same `Idempotency-Key`, same body.
   *
   * @throws WebhookError `invalid_option` for one that is not dead, or no longer kept
   */
  redeliver(id: string): EmulatorDelivery;
}

export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  endpointId?: string | undefined;
  eventId?: string | undefined;
}

export interface EmulatorAccounts {
  create(settings?: AccountSettings): EmulatorAccount;
  /** What is left out stays as it is. */
  update(id: string, settings: AccountSettings): EmulatorAccount;
  list(): EmulatorAccount[];
}

export interface EmulatorAccount {
  readonly id: string;
  readonly settings: Readonly<AccountSettings>;
}

export interface EmulatorKeys {
  /**
   * Makes a key and gives it, for the only time.
   *
   * @throws WebhookError `invalid_option` where the account's plan does not allow it
   */
  create(settings?: KeySettings & EmitTo): string;
  revoke(key: string): void;
}
