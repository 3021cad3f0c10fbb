import type { Attributes } from '@opentelemetry/api';
import { isKnownEvent } from '../event.js';
import type { Answer, Outcome } from '../outcome.js';

/**
 * What a metric may be told apart by: few values of each. A type that is none of the sixteen counts as `_OTHER`, as
 * OpenTelemetry's own conventions have it.
 */
export function metricAttributes(outcome: Outcome): Attributes {
  const { kind, delivery } = outcome;
  return {
    'webhook.outcome': kind,
    ...(delivery && {
      'webhook.event.type': isKnownEvent(delivery.event) ? delivery.event.type : '_OTHER',
      'webhook.signature.scheme': delivery.scheme,
    }),
    // A store's error may hold anything, and is not looked at.
    ...(kind === 'store_error'
      ? { 'webhook.store.operation': outcome.operation }
      : outcome.error && { 'error.type': outcome.error.code }),
  };
}

/** What a span tells beside that: which event it was. Nothing of `data`, of the body or of the headers. */
export function spanAttributes(answer: Answer): Attributes {
  const { kind, delivery } = answer;
  return {
    ...metricAttributes(answer),
    ...(delivery && {
      'webhook.event.id': delivery.event.id,
      'webhook.event.type': delivery.event.type,
      'webhook.event.version': delivery.event.version,
      'webhook.secret.index': delivery.secretIndex,
    }),
    ...(kind === 'handled' && { 'webhook.attempt': answer.attempt }),
  };
}
