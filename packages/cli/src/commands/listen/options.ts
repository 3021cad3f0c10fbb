import type { Receiver, Secret, SignatureOptions } from 'service-webhooks';
import type { Captures } from '../../captures.js';
import type { Redaction } from '../../redact.js';
import type { Routes } from './routes.js';

/** How incoming requests are treated. */
export interface ListenOptions {
  /** The secrets; undefined verifies nothing. */
  secrets: readonly Secret[] | undefined;
  /** How signatures are verified. */
  checks: Pick<SignatureOptions, 'headerPrefix' | 'legacy' | 'toleranceSeconds'>;
  /** The receiver that answers where no app does; undefined without a secret. */
  receiver: Receiver | undefined;
  /** The apps that deliveries are forwarded to. */
  routes: Routes;
  /** Whether any certificate of an app is accepted. */
  insecure: boolean;
  /** The selected event types; undefined selects all. */
  events: readonly string[] | undefined;
  captures: Captures | undefined;
  /** What captures are without; they are as they came. */
  redaction?: Redaction | undefined;
  /** The status of every answer. */
  respond: number | undefined;
  delayMs: number;
  /** The mark of forwarded requests, by which a request that returns is recognised. */
  mark: string;
  now: () => number;
}
