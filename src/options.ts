import { check, checkFunction, checkObject } from './check.js';
import { type Deadline, within } from './deadline.js';
import type { DedupeOptions } from './dedupe.js';
import { failureOf } from './errors.js';
import { type EventOf, type EventType, WEBHOOK_EVENT_TYPES, type WebhookEvent } from './event.js';
import type { HmacKey } from './hmac.js';
import { type HeaderSource, oneValue } from './http.js';
import type { Outcome } from './outcome.js';
import { type Secret, toKeys } from './secret.js';
import type { SignatureOptions, SignaturePolicy } from './signature.js';
import type { Delivery } from './verify.js';

/** What a handler knows beside the event. */
export interface HandlerContext<E extends WebhookEvent = WebhookEvent> {
  delivery: Delivery<E>;
  /** Aborted at the deadline: the sender has its 503 by then, and what the handler still does is recorded. */
  signal: AbortSignal;
  /** How often this event has been claimed, from 1; 1 without dedupe. */
  attempt: number;
  /**
   * Grows with every new owner of the event; 0 without dedupe. Write it beside what you write
   * (`… WHERE last_fence < $fence`), and a receiver that was paused cannot undo what its successor did.
   */
  fence: number;
}

/**
 * Does the work of an event. When it returns, the event is done and acknowledged: 200, or the 2xx it asks for
 * (`{ status: 202 }` once a queue has it); whatever else it returns is not looked at. When it throws, the sender comes again; {@link PermanentError} says that
 * this is no use.
 */
export type Handler<E extends WebhookEvent = WebhookEvent> = (event: E, context: HandlerContext<E>) => unknown;

/** A handler for each type of event that is wanted; `'*'` gets every event without a handler of its own. */
export type Handlers = { [Type in EventType]?: Handler<EventOf<Type>> | undefined } & { '*'?: Handler | undefined };

/** What a receiver is made of. An option given as undefined is its default. */
export interface ReceiverOptions extends SignatureOptions {
  /**
   * The signing secret of the endpoint, several while one replaces another, or a function that fetches them, such as
   * one secret for each tenant. The hint comes from a header that no signature covers: look a secret up by it, decide
   * nothing else.
   */
  secret: Secret | readonly Secret[] | ((hint: { webhookId?: string }) => Promise<readonly Secret[]>);
  on?: Handlers | undefined;
  /** How redeliveries are told from new events; a private memory store. `false` switches it off. */
  dedupe?: DedupeOptions | false | undefined;
  /** Largest body, in bytes; 5 MiB. */
  maxBodyBytes?: number | undefined;
  /** From the arrival of a request to its answer, in milliseconds; 15 000. The service waits for 20 000. */
  deadlineMs?: number | undefined;
  /** Is told what was decided about each request, and what is worth knowing. Can never break a delivery. */
  observe?: ((outcome: Outcome) => void) | undefined;
}

/** The keys to try on every delivery, or a function that fetches those of the endpoint a delivery names. */
export function keySource(
  secret: ReceiverOptions['secret'],
  { names }: SignaturePolicy,
): readonly HmacKey[] | ((headers: HeaderSource, deadline: Deadline) => Promise<readonly HmacKey[]>) {
  if (typeof secret !== 'function') return toKeys(secret);
  return async (headers, deadline) => {
    const hint = { webhookId: oneValue(headers, names.webhookId) } as { webhookId?: string };
    const secrets: unknown = await within(deadline.remaining(), () => secret(hint)).catch((cause) => {
      throw failureOf('secret_unavailable', 503, cause);
    });
    // Whoever sends can name an endpoint that does not exist: that is a signature nobody can have made.
    const list = (secrets ?? []) as readonly Secret[];
    return Array.isArray(list) && list.length === 0 ? [] : toKeys(list);
  };
}

/** @throws WebhookError `invalid_option` for a type that the service does not send */
export function handlerTable(on: Handlers = {}): (event: WebhookEvent) => Handler | undefined {
  checkObject('on', on);
  check(!(Symbol.iterator in on), 'on must be an object');
  const handlers = new Map<string, Handler | undefined>(Object.entries(on as object));
  for (const [type, handler] of handlers) {
    check(type === '*' || WEBHOOK_EVENT_TYPES.includes(type as EventType), `on['${type}'] is no event type`);
    checkFunction(`on['${type}']`, handler);
  }
  return (event) => handlers.get(event.type) ?? handlers.get('*');
}

/** An observer that throws, or answers a promise that rejects, is its own problem. */
export function harmless(observe: ReceiverOptions['observe']): (outcome: Outcome) => void {
  checkFunction('observe', observe);
  return (outcome) => {
    // Nobody gets the promise: an observer that never settles would be waited for.
    if (observe) (async () => observe(outcome))().catch(() => {});
  };
}
