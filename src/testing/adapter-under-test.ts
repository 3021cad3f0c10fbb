import type { Receiver } from '../receiver/receiver.js';
import type { WebhookResponse } from '../receiver/request.js';
import type { Delivery } from '../verify/verify.js';

/** How the suite starts an app with the adapter, and what the framework can do. */
export interface AdapterSuiteOptions {
  /** The function of the adapter that `serve` mounts. */
  form: 'handler' | 'middleware';
  /** Starts an app of the framework, with the adapter at one path and for every method. Called once for each case. */
  serve(app: AppUnderTest): ServedApp | Promise<ServedApp>;
  /**
   * The pattern that the hint must match when other code has read the body before the receiver: the framework's own
   * one-line fix. Leave it out where the exact bytes are still available then.
   */
  rawBodyFix?: RegExp | undefined;
  /** The abilities that the framework lacks, each with the reason, which becomes the `skip` of its cases. */
  without?: { readonly [What in AdapterAbility]?: string | undefined } | undefined;
}

/**
 * Abilities that not every framework has:
 * - `parser`: a parser that reads the body before the receiver
 * - `rawBody`: a parser that keeps the exact bytes
 * - `unparsed`: bodies that the framework does not parse reach the adapter
 * - `methods`: methods other than POST reach the adapter
 * - `pieces`: the body reaches the adapter while it is sent; otherwise the platform reads it and handles aborts itself
 * - `hangUp`: the adapter notices that the sender has disconnected
 * - `throws`: the adapter notices the errors that a route throws
 */
export type AdapterAbility = 'parser' | 'rawBody' | 'unparsed' | 'methods' | 'pieces' | 'hangUp' | 'throws';

/** The app that `serve` must start. */
export interface AppUnderTest {
  receiver: Receiver;
  /** What runs before the receiver: nothing, a parser that reads the body, or a parser that also keeps the bytes. */
  before: 'nothing' | 'parser' | 'rawBody';
  /**
   * The route behind a middleware: call it with the delivery that the adapter has set, and answer with the status that
   * it returns. Do not catch its errors. Pass the signal of a framework that notices when the sender disconnects.
   */
  route(delivery: Delivery | undefined, signal?: AbortSignal): Promise<number>;
}

/**
 * The started app: a port of 127.0.0.1 that it listens on, a function for a Fetch `Request`, or a function for a
 * request.
 */
export type ServedApp = { close?(): void | Promise<void> } & (
  | { port: number; path?: string | undefined }
  | { fetch(request: Request): Response | Promise<Response> }
  | { call(request: CalledRequest): Promise<WebhookResponse> }
);

/** A request for an app that is called, as a platform calls a function. */
export interface CalledRequest {
  method: string;
  /** The headers as they arrived. A name may occur twice; `call` passes them in the way of its platform. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}
