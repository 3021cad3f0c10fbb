import type { Receiver } from '../../receiver.js';
import type { Secret } from '../../secret.js';
import type { SignatureOptions } from '../../signature.js';
import type { Captures } from '../captures.js';

/** What is done with what comes in. */
export interface ListenOptions extends SignatureOptions {
  /** None: nothing is verified. */
  secrets: readonly Secret[] | undefined;
  /** Answers where nothing else does; none without a secret. */
  receiver: Receiver | undefined;
  /** The app that deliveries are handed to. */
  target: URL | undefined;
  /** The event types that are wanted; all. */
  events: readonly string[] | undefined;
  captures: Captures | undefined;
  /** The status of every answer. */
  respond: number | undefined;
  delayMs: number;
  now: () => number;
}
