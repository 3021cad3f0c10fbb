import { WebhookError } from 'service-webhooks';

/**
 * @throws WebhookError `invalid_option` without a route, which must return the answer
 */
export function checkRoute(route: unknown): void {
  if (typeof route === 'function') return;
  throw new WebhookError('invalid_option', {
    message: 'webhookMiddleware has no route.',
    hint: 'Pass the route as the second argument.',
  });
}
