import type { Envelope, EventType, WebhookEvent } from 'service-webhooks';
import type { EventOverrides } from 'service-webhooks/testing';
import type { AccountSettings } from './api/accounts.js';
import type { Listening } from './api/http-server.js';
import type { KeySettings } from './api/keys.js';
import type { Script } from './api/scripts.js';
import type { Attempts } from './delivery/attempt-log.js';
import type { EmulatorDelivery } from './delivery/deliveries.js';
import type { DeliveryState } from './delivery/delivery-states.js';
import type { EmulatorEndpoint } from './delivery/endpoints.js';
import type { Faults } from './faults.js';
import type { Totals } from './totals.js';

/** An emulator of the service on your own machine. */
export interface Emulator {
  /** The seed of ids, secrets and faults: an emulator with the same seed repeats them. */
  readonly seed: string;
  /** A key of the first account with every scope; a sandbox key if the plan has no API access. */
  readonly apiKey: string;
  readonly endpoints: EmulatorEndpoints;
  readonly deliveries: EmulatorDeliveries;
  readonly attempts: Attempts;
  readonly accounts: EmulatorAccounts;
  readonly keys: EmulatorKeys;
  /** Counts since the emulator was created. */
  readonly totals: Readonly<Totals>;

  /**
   * Returns the emulator's time in milliseconds since the epoch. Pass it to a receiver as `now`; it needs no `this`.
   */
  readonly now: () => number;
  /**
   * Lets `ms` milliseconds pass at once. Attempts that become due start in order, each after the one before it is
   * answered. With a real clock only the waits get shorter: `now` does not jump.
   *
   * @throws WebhookError (as a rejection) `invalid_option`
   */
  advance(ms: number): Promise<void>;
  /** Calls {@link Emulator.advance} until no attempt is due. Deliveries to a paused endpoint are not sent. */
  runUntilIdle(): Promise<void>;
  /** Resolves when no request to a receiver is running. */
  settled(): Promise<void>;

  /**
   * Emits an event. It goes to every endpoint of the account that has subscribed to its type, the first attempt at once.
   * Resolves when the deliveries have started; {@link Emulator.settled} waits for the answers.
   *
   * @throws WebhookError (as a rejection) `invalid_option`, also when `maxPending` deliveries are pending
   */
  emit<Type extends EventType>(type: Type, overrides?: EventOverrides<Type>, to?: EmitTo): Promise<Emitted>;
  emit(type: string, overrides?: Partial<Omit<Envelope, 'type'>>, to?: EmitTo): Promise<Emitted>;
  /**
   * Sends a sample event to an endpoint, as the dashboard's test does: one attempt, also to a paused endpoint. The
   * default type is the first one that the endpoint has subscribed to.
   *
   * @throws WebhookError (as a rejection) `invalid_option`
   */
  sendTest(endpointId: string, type?: EventType): Promise<EmulatorDelivery>;
  /** Replaces the faults that occur in deliveries. @throws WebhookError `invalid_option` */
  setFaults(faults: Faults): void;

  /** Sets a fixed answer for a route of the API. Returns a function that removes it. @throws WebhookError `invalid_option` */
  script(script: Script): () => void;
  /** Answers a request to the API without a socket. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Serves the API on a port of 127.0.0.1. Default: any free port. Requests must name 127.0.0.1, localhost or the host
   * of `baseUrl` in their Host header; others are answered with 403 `forbidden`.
   */
  listen(port?: number): Promise<Listening>;

  /**
   * Writes the state to a file, completely or not at all. Only the file's owner can read it: it contains signing
   * secrets.
   */
  save(path: string): Promise<void>;
  /**
   * Replaces the whole state with a saved one. @throws WebhookError (as a rejection) `invalid_option` for another file
   */
  load(path: string): Promise<void>;
  /** Stops sending and ends connections, timers and iterators. */
  close(): Promise<void>;
}

/** An emitted event and its deliveries. */
export interface Emitted {
  readonly event: WebhookEvent;
  /** The deliveries of the event, one for each endpoint, as they were when `emit` resolved. */
  readonly deliveries: readonly EmulatorDelivery[];
}

/** Selects an account. */
export interface EmitTo {
  /** The id of the account. Default: the first account. */
  account?: string | undefined;
}

/** The webhook endpoints of all accounts. */
export interface EmulatorEndpoints {
  /**
   * Subscribes a URL to event types, by default to all sixteen. Only this call returns the secret.
   *
   * @throws WebhookError `invalid_option` with the reason why the URL is refused, `invalid_secret`
   */
  create(endpoint: NewEndpoint): EmulatorEndpoint & { readonly signingSecret: string };
  /** Changes the URL, the event types or both. The secret stays the same. @throws WebhookError `invalid_option` */
  update(id: string, changes: Pick<NewEndpoint, 'events'> & { url?: string | undefined }): EmulatorEndpoint;
  get(id: string): EmulatorEndpoint | undefined;
  list(): EmulatorEndpoint[];
  /** Removes an endpoint with its deliveries and their attempts. */
  remove(id: string): void;
  /** Pauses an endpoint, as 20 consecutive dead deliveries do. No request to it starts until it is enabled. */
  pause(id: string): void;
  /** Makes a paused endpoint active. The deliveries that waited for it start. */
  enable(id: string): void;
}

/** The settings of a new endpoint. */
export interface NewEndpoint extends EmitTo {
  url: string;
  /**
   * Event types. Unknown ones are allowed, so that a receiver can be tested with future types. Default: all sixteen.
   */
  events?: readonly string[] | undefined;
  /** The secret that the receiver already has. Default: a new secret. */
  signingSecret?: string | undefined;
}

/** All pending deliveries, and the latest of the finished ones. */
export interface EmulatorDeliveries {
  /**
   * Returns the deliveries that match the filter. @throws WebhookError `invalid_option` for an unknown field of the
   * filter
   */
  list(filter?: DeliveryFilter): EmulatorDelivery[];
  get(id: string): EmulatorDelivery | undefined;
  /**
   * Starts a dead or lost delivery again from attempt 1, with the same event, `Idempotency-Key` and body.
   *
   * @throws WebhookError `invalid_option` for a delivery that is not dead or lost, or no longer kept
   */
  redeliver(id: string): EmulatorDelivery;
}

/** Selects deliveries. All fields that are set must match. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  endpointId?: string | undefined;
  eventId?: string | undefined;
}

/** The accounts of the service. */
export interface EmulatorAccounts {
  /** Creates an account. @throws WebhookError `invalid_option` */
  create(settings?: AccountSettings): EmulatorAccount;
  /** Changes the given settings. @throws WebhookError `invalid_option` */
  update(id: string, settings: AccountSettings): EmulatorAccount;
  list(): EmulatorAccount[];
}

/** The public view of an account. */
export interface EmulatorAccount {
  readonly id: string;
  readonly settings: Readonly<AccountSettings>;
}

/** The API keys of all accounts. */
export interface EmulatorKeys {
  /**
   * Creates a key. No later call returns it.
   *
   * @throws WebhookError `invalid_option` where the account's plan does not allow it
   */
  create(settings?: KeySettings & EmitTo): string;
  /** Revokes a key: every later call with it fails. @throws WebhookError `invalid_option` for an unknown key */
  revoke(key: string): void;
}
