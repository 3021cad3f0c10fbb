import { WebhookError } from 'service-webhooks';

/** @throws WebhookError `invalid_option` where the route is missing that has to make the answer */
export function checkRoute(route: unknown): void {
  if (typeof route === 'function') return;
  throw new WebhookError('invalid_option', 500, 'Give webhookMiddleware a route as its second argument.', 'route');
}
