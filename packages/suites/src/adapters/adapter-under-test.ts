import type { Delivery, Receiver, WebhookResponse } from 'service-webhooks';

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
  /** The ways to end a route that `serve` plays. The cases of the others are skipped. Default: none. */
  endings?: readonly RouteEnding[] | undefined;
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
 * - `throws`: the adapter notices when a route has ended, and the errors that it throws
 * - `breaks`: the adapter can tell an answer that the app has broken off from one whose sender has left
 * - `late`: the adapter learns what a route answers whose sender has left
 */
export type AdapterAbility =
  | 'parser'
  | 'rawBody'
  | 'unparsed'
  | 'methods'
  | 'pieces'
  | 'hangUp'
  | 'throws'
  | 'breaks'
  | 'late';

/**
 * What a route does after `app.route(…)` has given it a status, other than to answer with that status:
 * - `sends bytes`: it answers with that status and the bytes of `app.body()`, all at once
 * - `streams`: it answers with that status and streams the chunks of `app.body()`; where the chunks throw, the answer breaks
 * - `returns an error`: it returns an error value of the framework with the status 503
 * - `answers and throws`: it sends an answer with that status, or with the bytes of `app.body()`, and then throws
 * - `throws at once`: it does not wait for the status, and throws before it has returned a promise
 * - `calls next twice`: something between the middleware and the route calls `next()` twice
 * - `answers twice`: it sends an answer with that status, and then sets another status, as where a `return` is missing
 * - `other code answers`: other code sends the status of `app.otherAnswer` once that resolves, before the route or while it
 *   works; after that, the route answers unless its framework says that there is an answer
 */
export type RouteEnding =
  | 'sends bytes'
  | 'streams'
  | 'returns an error'
  | 'answers and throws'
  | 'answers twice'
  | 'throws at once'
  | 'calls next twice'
  | 'other code answers';

/** Bytes that a Fetch response takes. TypeScript before 5.7 has no generic `Uint8Array`. */
type AnswerBytes = ReturnType<Uint8ArrayConstructor['of']>;

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
  /** How the route ends, of the `endings` in the options. Default: it answers with the status, without a body. */
  ending?: RouteEnding | undefined;
  /** Returns the body of the answer for the endings that have one. */
  body(): AnswerBytes | AsyncIterable<AnswerBytes>;
  /** Resolves to the status that other code sends; never for any other ending. */
  otherAnswer: Promise<number>;
}

/**
 * The started app: a port of 127.0.0.1 that it listens on, with HTTP/1.1 or HTTP/2 without TLS, a function for a Fetch
 * `Request`, or a function for a request.
 */
export type ServedApp = { close?(): void | Promise<void> } & (
  | { port: number; path?: string | undefined; http2?: boolean | undefined }
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
