import type { Attributes } from '@opentelemetry/api';
import { isKnownEvent } from '../event.js';
import type { ReceiverOptions } from '../receiver/options.js';
import type { Decision, Outcome } from '../receiver/outcome.js';

/**
 * Returns the attributes of a metric, of low cardinality. An unknown event type is `_OTHER`, an OpenTelemetry
 * convention.
 */
export function metricAttributes(outcome: Outcome): Attributes {
  const { kind, delivery } = outcome;
  return {
    'webhook.outcome': kind,
    ...(delivery && {
      'webhook.event.type': isKnownEvent(delivery.event) ? delivery.event.type : '_OTHER',
      'webhook.signature.scheme': delivery.scheme,
    }),
    // A store's error may contain anything, so only its type is recorded.
    ...(kind === 'store_error'
      ? { 'webhook.store.operation': outcome.operation }
      : outcome.error && { 'error.type': outcome.error.code }),
  };
}

/** Returns the attribute of an endpoint; none where it has no name. */
export function namedEndpoint(name: string | undefined): Attributes {
  return name === undefined ? {} : { 'webhook.endpoint.name': name };
}

/** Returns the attribute that tells the gauges of two receivers in one process apart: their names must differ. */
export function endpointAttributes({ dedupe, queue }: ReceiverOptions): Attributes {
  const name = dedupe === false ? undefined : dedupe?.name;
  return namedEndpoint(name ?? queue?.name);
}

/**
 * Returns the attributes that only a span has: the event's identity. Nothing of `data`, of the body or of the headers.
 */
export function spanAttributes(decision: Decision): Attributes {
  const { kind, delivery } = decision;
  return {
    ...metricAttributes(decision),
    ...(delivery && {
      'webhook.event.id': delivery.event.id,
      'webhook.event.type': delivery.event.type,
      'webhook.event.version': delivery.event.version,
      'webhook.secret.index': delivery.secretIndex,
      ...(delivery.tenant !== undefined && { 'webhook.tenant': delivery.tenant }),
    }),
    ...(kind === 'handled' && { 'webhook.attempt': decision.attempt }),
  };
}
