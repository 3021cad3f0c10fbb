import type { Outcome } from '../receiver/outcome.js';

/** The channel of `node:diagnostics_channel` that {@link publishOutcome} publishes to. */
export const OUTCOME_CHANNEL = 'service-webhooks:outcome';

type DiagnosticsChannel = typeof import('node:diagnostics_channel');

// Without an import and without a prefix, so that an edge bundle contains no `node:`.
const channel = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => DiagnosticsChannel | undefined } }
).process
  ?.getBuiltinModule?.('diagnostics_channel')
  ?.channel(OUTCOME_CHANNEL);

/**
 * Publishes an outcome to {@link OUTCOME_CHANNEL}; pass it as `observe`. Subscribers in this process receive each
 * outcome. Does nothing in a runtime without `node:diagnostics_channel` or without a subscriber.
 *
 * @example
 * import diagnostics_channel from 'node:diagnostics_channel';
 *
 * createReceiver({ secret, on, observe: publishOutcome });
 * diagnostics_channel.subscribe(OUTCOME_CHANNEL, (outcome) => console.log((outcome as Outcome).kind));
 */
export function publishOutcome(outcome: Outcome): void {
  if (channel?.hasSubscribers) channel.publish(outcome);
}
