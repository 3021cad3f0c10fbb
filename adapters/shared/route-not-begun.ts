import { WebhookError } from 'service-webhooks';

/** The error of a claimed delivery whose route must not begin. */
export function routeNotBegun(): WebhookError {
  return new WebhookError('handler_failed', {
    message: 'The sender disconnected, or other code answered it, before your route began; the event is released.',
    hint: 'If this happens often, check the timeouts of your app and your proxy, and how fast the dedupe store answers.',
  });
}
