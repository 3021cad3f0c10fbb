import { setTimeout as sleep } from 'node:timers/promises';
import { isWebhookError, WebhookError } from '../../errors.js';
import { openBody } from '../../receiver/body.js';
import { toResponse } from '../../receiver/outcome.js';
import type { WebhookRequest, WebhookResponse } from '../../receiver/request.js';
import { type HttpMessage, headerValue } from '../../wire/http-message.js';
import { redactDelivery } from '../redact-delivery.js';
import { type Answered, answerTo, MARK_HEADER, plain } from './answer.js';
import { type Inspection, inspect } from './inspection.js';
import type { ListenOptions } from './options.js';
import { createRateCap, type RateCap } from './rate-cap.js';

/** A delivery that was answered. */
export type HandledDelivery = Answered & {
  message: HttpMessage;
  inspection: Inspection;
  capture: { id: string; file: string } | undefined;
};

/** The result of one request; `ignored` is an event of a type that was not selected. */
export type Handled =
  | (HandledDelivery & { kind: 'delivery' })
  | { kind: 'problem'; response: WebhookResponse; problem: unknown }
  | { kind: 'ignored'; response: WebhookResponse };

/** A request before its body is read. */
export interface IncomingRequest extends WebhookRequest {
  /** Path and query. */
  path: string;
  headers: HttpMessage['headers'];
  /** When it arrived, in milliseconds since the epoch. */
  at: number;
}

export type RequestHandler = (request: IncomingRequest, stop: AbortSignal) => Promise<Handled>;

/** Larger than any delivery. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const BODY_TIMEOUT_MS = 20_000;
/** The limit of captures of requests that are not verified, because anyone can send them. */
export const UNVERIFIED_CAPTURES = { count: 1_000, bytes: 64 * 1024 * 1024, windowMs: 3_600_000 };

/**
 * Reads the exact bytes, captures them, inspects them and answers: in this order, so that every answered delivery is
 * captured.
 */
export function createRequestHandler(options: ListenOptions): RequestHandler {
  const cap = createRateCap({ ...UNVERIFIED_CAPTURES, now: options.now });
  return async (request, stop) => {
    try {
      if (headerValue(request.headers, MARK_HEADER.toLowerCase()) === options.mark) return itself(request);
      const message = await readMessage(request, stop);
      const inspection = inspect(message, options);
      if (options.events && !options.events.includes(inspection.type ?? '')) {
        return { kind: 'ignored', response: plain(200, 'not_subscribed') };
      }
      const capture = await keep(options, message, inspection, request.at, cap);
      const targets = options.routes.targets(inspection.type);
      const answered = await answerTo({ ...request, body: message.body }, message, targets, options, stop);
      await sleep(options.delayMs, undefined, { signal: stop }).catch(() => {}); // after Ctrl+C it is answered at once
      return { kind: 'delivery', ...answered, message, inspection, capture };
    } catch (problem) {
      return { kind: 'problem', response: refusalOf(problem), problem };
    }
  };
}

function itself({ body }: IncomingRequest): Handled {
  openBody(body).drain();
  const problem = new Error('listen forwards to itself: name the port of your app.');
  return { kind: 'problem', response: plain(508, 'loop'), problem };
}

async function readMessage(request: IncomingRequest, stop: AbortSignal): Promise<HttpMessage> {
  const { method, path, headers } = request;
  const body = openBody(request.body);
  try {
    if (method !== 'POST') throw new WebhookError('method_not_allowed');
    const gone = AbortSignal.any([stop, ...(request.signal ? [request.signal] : [])]);
    return { method, path, headers, body: await body.read({ signal: gone }, MAX_BODY_BYTES, BODY_TIMEOUT_MS) };
  } catch (error) {
    body.drain();
    throw error;
  }
}

async function keep(
  { captures, redaction, checks }: Pick<ListenOptions, 'captures' | 'redaction' | 'checks'>,
  message: HttpMessage,
  { verdict }: Inspection,
  at: number,
  cap: RateCap,
) {
  if (captures === undefined) return undefined;
  if (redaction) {
    // Signed again, a forgery would be genuine.
    if (verdict !== 'verified') return undefined;
    const { headerPrefix = 'x-service' } = checks;
    const redacted = redactDelivery(message, redaction, { headerPrefix, at });
    return redacted && captures.keep(redacted.message, at);
  }
  const headBytes = message.headers.flat().join('').length;
  if (verdict !== 'verified' && !cap.take(message.body.length + headBytes)) return undefined;
  return captures.keep(message, at);
}

/** Returns a refusal, because a delivery that was not captured must be retried. */
function refusalOf(problem: unknown): WebhookResponse {
  if (!isWebhookError(problem)) return plain(503, 'not_kept');
  return toResponse({ kind: 'rejected', error: problem, unsigned: { headerNames: [] } });
}
