import type { WebhookResponse } from '../http.js';
import type { Receiver } from '../receiver.js';
import type { Delivery } from '../verify.js';

/** How the suite gets an app with the adapter in it, and what it may ask of it. */
export interface AdapterSuiteOptions {
  /** Which of the adapter's two functions `serve` mounts. */
  form: 'handler' | 'middleware';
  /** Starts an app of the framework, with the adapter at one path and for every method. Called once for each case. */
  serve(app: AppUnderTest): ServedApp | Promise<ServedApp>;
  /**
   * What the hint has to say when something has read the body before the receiver: the framework's own one-line fix.
   * Left out where the exact bytes are still there then.
   */
  rawBodyFix?: RegExp | undefined;
  /** What there is not, and why: shown as the reason of the cases that are skipped. */
  without?: { readonly [What in AdapterAbility]?: string | undefined } | undefined;
}

/**
 * What not every framework has:
 * - `parser`: something that reads the body before the receiver
 * - `rawBody`: a parser that keeps the exact bytes
 * - `unparsed`: bodies that the framework would not parse reach the adapter all the same
 * - `methods`: other methods than POST reach the adapter
 * - `pieces`: the body reaches the adapter while it is sent; otherwise the platform reads it and sees to aborts itself
 * - `hangUp`: the adapter learns that the sender has left
 * - `throws`: the adapter learns what a route throws
 */
export type AdapterAbility = 'parser' | 'rawBody' | 'unparsed' | 'methods' | 'pieces' | 'hangUp' | 'throws';

/** What `serve` has to put together. */
export interface AppUnderTest {
  receiver: Receiver;
  /** What comes before the receiver: nothing, what reads the body away as apps often do, or what keeps the bytes too. */
  before: 'nothing' | 'parser' | 'rawBody';
  /**
   * Behind a middleware: call it with what the adapter has handed on, and answer with the status it gives. Where it
   * throws, let it. A framework that knows when the sender leaves gives its signal.
   */
  route(delivery: Delivery | undefined, signal?: AbortSignal): Promise<number>;
}

/** Where the app is: it listens on a port of 127.0.0.1, it takes a Fetch `Request`, or it is called with a request. */
export type ServedApp = { close?(): void | Promise<void> } & (
  | { port: number; path?: string | undefined }
  | { fetch(request: Request): Response | Promise<Response> }
  | { call(request: CalledRequest): Promise<WebhookResponse> }
);

/** For what is called, as a function is by its platform. */
export interface CalledRequest {
  method: string;
  /** As they came; a name may come twice. How the platform hands those on is for `call` to say. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}
