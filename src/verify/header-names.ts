import { check } from '../option-checks.js';

/** Lower-case names of the service's own headers. */
export interface HeaderNames {
  readonly v2: string;
  readonly legacy: string;
  readonly webhookId: string;
  readonly attempt: string;
}

const PREFIX = /^[a-z0-9]+(-[a-z0-9]+)*$/i;

/** @throws WebhookError `invalid_option` for a prefix that no header name can begin with */
export function checkHeaderPrefix(headerPrefix: unknown): asserts headerPrefix is string {
  const isPrefix = typeof headerPrefix === 'string' && PREFIX.test(headerPrefix);
  check(isPrefix, 'headerPrefix must be letters, digits and single hyphens, like x-service');
}

/** @throws WebhookError `invalid_option` for a prefix that no header name can begin with */
export function headerNames(headerPrefix = 'x-service'): HeaderNames {
  checkHeaderPrefix(headerPrefix);
  const prefix = headerPrefix.toLowerCase();
  return {
    v2: `${prefix}-signature-v2`,
    legacy: `${prefix}-signature`,
    webhookId: `${prefix}-webhook-id`,
    attempt: `${prefix}-attempt`,
  };
}
