import { WebhookError } from '../errors.js';
import {
  type AnyEvent,
  DATA_FIELDS,
  type EventOf,
  type EventType,
  faultyFields,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from '../event.js';
import { check, checkFunction, checkObject, nearestName } from '../option-checks.js';
import type { Delivery } from '../verify/verify.js';

/** The second argument of a handler. */
export interface HandlerContext<E extends AnyEvent = WebhookEvent> {
  delivery: Delivery<E>;
  /** Aborted at the deadline: the service has received 503 by then, and the result of the handler is still recorded. */
  signal: AbortSignal;
  /** The number of times this event has been claimed, from 1; 1 without dedupe. */
  attempt: number;
  /**
   * A number that grows with every new owner of the event; 0 without dedupe. Store it with your writes (`… WHERE
   * last_fence < $fence`), so that a receiver that was paused cannot overwrite the work of its successor.
   */
  fence: number;
  /**
   * The name of the endpoint that received the event: in a worker the endpoint that queued it, in a receiver the `name` of
   * `dedupe`; undefined where there is none.
   */
  endpoint?: string | undefined;
  /**
   * Returns a key for the idempotency keys of other APIs: of this event, at this endpoint, for one purpose. It is the same on
   * every attempt, in receivers and in workers: at most 255 visible ASCII characters, such as `'clips:evt_1:mail'`. An endpoint
   * without a name is `webhook` in it.
   *
   * @param purpose What the key is for, such as `'mail'`: 1 to 54 visible ASCII characters without a colon.
   * @throws WebhookError `invalid_option`
   * @example
   * await mailer.send(message, { idempotencyKey: context.keyFor('mail') });
   */
  keyFor(purpose: string): string;
}

/**
 * Does the work of an event. When it returns, the event is done and acknowledged with 200, or with the 2xx of a
 * returned `{ status }` (202 once the event is in a queue); other return values are ignored. When it throws, the
 * service retries; a {@link PermanentError} ends the retries.
 */
export type Handler<E extends AnyEvent = WebhookEvent> = (event: E, context: HandlerContext<E>) => unknown;

/**
 * The {@link Handler} of one type of event, for a handler in a file of its own.
 *
 * @example
 * export const onClip: HandlerOf<'generation.completed'> = (event) => download(event.data.downloadUrl);
 */
export type HandlerOf<Type extends EventType> = Handler<EventOf<Type>>;

/**
 * The {@link HandlerContext} of one type of event.
 *
 * @example
 * async function onClip(event: EventOf<'generation.completed'>, context: HandlerContextOf<'generation.completed'>) {}
 */
export type HandlerContextOf<Type extends EventType> = HandlerContext<EventOf<Type>>;

/** A handler for each type of event; `'*'` handles every event without a handler of its own, including new types. */
export type Handlers = { [Type in EventType]?: HandlerOf<Type> | undefined } & { '*'?: Handler | undefined };

/**
 * Returns the handler of an event, or undefined where it has none; throws `unexpected_data` where the types promise
 * fields of `data` to the handler that the event does not have.
 */
export type HandlerTable = (event: WebhookEvent) => Handler | undefined;

/** @throws WebhookError `invalid_option` for a type that the service does not send */
export function handlerTable(on: Handlers): HandlerTable {
  checkObject('on', on);
  check(!(Symbol.iterator in on), 'on must be an object with a handler for each event type');
  const handlers = new Map(Object.entries(on as { [type: string]: Handler | undefined }));
  for (const [type, handler] of handlers) {
    if (type !== '*') checkEventType('on', type);
    checkFunction(`on['${type}']`, handler);
  }
  return (event) => {
    const handler = handlers.get(event.type);
    if (handler) checkData(event);
    return handler ?? handlers.get('*');
  };
}

/** @throws WebhookError `invalid_option` for a type that the service does not send, with the nearest one */
export function checkEventType(option: string, type: string): asserts type is EventType {
  if (WEBHOOK_EVENT_TYPES.includes(type as EventType)) return;
  const nearest = nearestName(type, WEBHOOK_EVENT_TYPES);
  throw new WebhookError('invalid_option', {
    message: `${option}['${type}'] is not an event type.`,
    hint: nearest ? `Did you mean '${nearest}'?` : 'WEBHOOK_EVENT_TYPES lists them.',
  });
}

function checkData({ type, data }: WebhookEvent): void {
  const rules = DATA_FIELDS[type as EventType];
  if (rules === undefined) return;
  const [field] = faultyFields(data, rules);
  if (field === undefined) return;
  const message = `data.${field} of ${type} is not ${rules[field]?.mustBe}, which the handler's types promise.`;
  throw new WebhookError('unexpected_data', { message, paths: [`data.${field}`] });
}
