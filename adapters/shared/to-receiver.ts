import {
  createReceiver,
  type EndpointOptions,
  type MiddlewareOptions,
  type Receiver,
  WebhookError,
} from 'service-webhooks';

/**
 * Returns the receiver of an endpoint.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`; the latter also without handlers
 */
export function endpointReceiver(receiverOrOptions: Receiver | EndpointOptions): Receiver {
  const receiver = isReceiver(receiverOrOptions) ? receiverOrOptions : createReceiver(receiverOrOptions);
  if (receiver.hasHandlers !== false) return receiver;
  throw new WebhookError('invalid_option', {
    message: 'webhookHandler has no handlers: every event would be acknowledged and lost.',
    hint: "Pass on: { 'generation.completed': handler }, or on: {} if that is what you want.",
  });
}

/**
 * Returns the receiver of a middleware.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`; the latter also for options that a middleware cannot follow
 */
export function middlewareReceiver(receiverOrOptions: Receiver | MiddlewareOptions): Receiver {
  if (isReceiver(receiverOrOptions)) {
    if (receiverOrOptions.hasQueue) throw hasNoEffect('queue', GETS_EVENT);
    return receiverOrOptions;
  }
  const { on, queue, deadlineMs }: { on?: unknown; queue?: unknown; deadlineMs?: unknown } = receiverOrOptions;
  if (on !== undefined) throw hasNoEffect('on', 'the route behind the middleware handles the event');
  if (queue !== undefined) throw hasNoEffect('queue', GETS_EVENT);
  if (deadlineMs !== undefined) throw hasNoEffect('deadlineMs', 'only the route can answer');
  return createReceiver(receiverOrOptions);
}

/**
 * Returns the receiver of a middleware whose route is an argument and returns the answer.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`; the latter also without a route
 */
export function routeReceiver(receiverOrOptions: Receiver | MiddlewareOptions, route: unknown): Receiver {
  if (typeof route === 'function') return middlewareReceiver(receiverOrOptions);
  throw new WebhookError('invalid_option', {
    message: 'webhookMiddleware has no route.',
    hint: 'Pass the route as the second argument.',
  });
}

const GETS_EVENT = 'the route behind the middleware gets the event';

function isReceiver(value: Receiver | object): value is Receiver {
  return typeof value === 'function';
}

function hasNoEffect(option: string, reason: string): WebhookError {
  return new WebhookError('invalid_option', {
    message: `${option} has no effect in webhookMiddleware, since ${reason}.`,
    hint: `Use webhookHandler, or remove ${option}.`,
  });
}
