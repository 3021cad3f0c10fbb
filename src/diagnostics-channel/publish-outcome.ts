import type { Outcome } from '../outcome.js';

/** The channel of `node:diagnostics_channel` that {@link publishOutcome} publishes to. */
export const OUTCOME_CHANNEL = 'service-webhooks:outcome';

type DiagnosticsChannel = typeof import('node:diagnostics_channel');

// Without an import and without a prefix, so that a bundle for the edge has no `node:` in it.
const channel = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => DiagnosticsChannel | undefined } }
).process
  ?.getBuiltinModule?.('diagnostics_channel')
  ?.channel(OUTCOME_CHANNEL);

/**
 * For `observe`: publishes each outcome to {@link OUTCOME_CHANNEL}, for whoever subscribes to it in this process. Does
 * nothing where the runtime has no such channels, and next to nothing where nobody has subscribed.
 *
 * @example
 * createReceiver({ secret, on, observe: publishOutcome });
 *
 * diagnostics_channel.subscribe(OUTCOME_CHANNEL, (outcome) => count((outcome as Outcome).kind));
 */
export function publishOutcome(outcome: Outcome): void {
  if (channel?.hasSubscribers) channel.publish(outcome);
}
