import { setTimeout } from 'node:timers/promises';
import { isWebhookError, verifySignature, type WebhookError, type WebhookResponse } from 'service-webhooks';
import { LISTEN_HEADER } from '../../http/answer.js';
import { drainBody } from '../../http/drain-body.js';
import type { HttpMessage } from '../../http/http-message.js';
import { redactDelivery } from '../../redact.js';
import { type Answered, answerTo, plain, refusedWith } from './answer.js';
import { type Inspection, inspect } from './inspection.js';
import type { ListenOptions } from './options.js';
import { type IncomingRequest, NO_ROOM, readMessage } from './read-message.js';
import {
  type BodyShare,
  createBodyBudget,
  createRateCap,
  type RateCap,
  REFUSED_BODIES,
  UNVERIFIED_BODIES,
} from './request-limits.js';

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

export type RequestHandler = (request: IncomingRequest, stop: AbortSignal) => Promise<Handled>;

/** Larger than any delivery. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** The limit of captures of requests that are not verified, because anyone can send them. */
export const UNVERIFIED_CAPTURES = { count: 1_000, bytes: 64 * 1024 * 1024, windowMs: 3_600_000 };

/**
 * Returns a function that handles a request: it checks the signature header, which decides how much of the body is read,
 * reads the exact bytes, captures them and answers. Every delivery is captured before it is answered.
 */
export function createRequestHandler(options: ListenOptions): RequestHandler {
  const cap = createRateCap({ ...UNVERIFIED_CAPTURES, now: options.now });
  const unverified = createBodyBudget(UNVERIFIED_BODIES);
  const refused = createBodyBudget(REFUSED_BODIES.together);

  async function handle(request: IncomingRequest, share: BodyShare, maxBytes: number, stop: AbortSignal) {
    const message = await readMessage(request, { share, maxBytes }, stop);
    const inspection = inspect(message, options);
    if (inspection.verdict === 'verified') share.release();
    if (options.events && !options.events.includes(inspection.type ?? '')) {
      return { kind: 'ignored', response: plain(200, 'not_subscribed') } as const;
    }
    const capture = await keep(options, message, inspection, request.at, cap);
    const targets = options.routes.targets(inspection.type);
    const answered = await answerTo({ ...request, body: message.body }, message, targets, options, stop);
    await setTimeout(options.delayMs, undefined, { signal: stop }).catch(() => {}); // after Ctrl+C it is answered at once
    return { kind: 'delivery', ...answered, message, inspection, capture } as const;
  }

  return async (request, stop) => {
    if (isMarked(request, options.mark)) return itself(request);
    const fault = request.method === 'POST' ? headerFault(request, options) : undefined;
    const share = (fault ? refused : unverified).open();
    try {
      return await handle(request, share, fault ? REFUSED_BODIES.each : MAX_BODY_BYTES, stop);
    } catch (thrown) {
      const problem = fault && isTooMuch(thrown) ? fault : thrown;
      const { respond } = options;
      const response = problem === fault && respond !== undefined ? plain(respond, 'as_told') : refusalOf(problem);
      return { kind: 'problem', response, problem };
    } finally {
      share.release();
    }
  };
}

/** Returns why the header alone is a reason to refuse a request; undefined where the body decides. */
function headerFault(
  { headers }: IncomingRequest,
  { secrets, checks, now }: Pick<ListenOptions, 'secrets' | 'checks' | 'now'>,
): WebhookError | undefined {
  if (secrets === undefined) return undefined;
  try {
    verifySignature({ ...checks, headers, body: '', secret: secrets, now });
    return undefined;
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    // The header and its time are judged before the signature is compared.
    return error.code === 'signature_mismatch' ? undefined : error;
  }
}

function isTooMuch(thrown: unknown): boolean {
  return thrown === NO_ROOM || (isWebhookError(thrown) && thrown.code === 'body_too_large');
}

/** Returns whether any header has the mark: the sender may have sent one of its own. */
function isMarked({ headers }: IncomingRequest, mark: string): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === LISTEN_HEADER.toLowerCase() && value === mark);
}

function itself({ body }: IncomingRequest): Handled {
  drainBody(body);
  const problem = new Error('listen forwards to itself: name the port of your app.');
  return { kind: 'problem', response: plain(508, 'loop'), problem };
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
  if (problem === NO_ROOM) {
    const { headers, ...busy } = plain(503, 'busy');
    return { ...busy, headers: { ...headers, 'retry-after': '1' } };
  }
  if (!isWebhookError(problem)) return plain(503, 'not_kept');
  return refusedWith(problem);
}
