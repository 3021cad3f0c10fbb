import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBody } from '../../body.js';
import { isWebhookError, WebhookError } from '../../errors.js';
import type { WebhookRequest, WebhookResponse } from '../../http.js';
import { toResponse } from '../../outcome.js';
import type { Receiver } from '../../receiver.js';
import type { HttpMessage } from '../http-file.js';
import { type Answered, answerTo, plain } from './answer.js';
import type { ListenOptions } from './options.js';
import { look, type Seen } from './seen.js';

/** What became of one request. */
export type Taken =
  | (Answered & { message: HttpMessage; seen: Seen; capture: { id: string; file: string } | undefined })
  | { problem: unknown };

/** A receiver for one request, as adapters take one. */
export interface Intake extends Receiver {
  /** Undefined while it is being handled, and for an event that is not wanted. */
  taken?: Taken;
}

/** More than any delivery has. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const BODY_TIMEOUT_MS = 60_000;

/** Reads the exact bytes, keeps them, looks at them, answers: in this order, so that what was answered is kept. */
export function createIntake(req: IncomingMessage, at: number, options: ListenOptions, signal: AbortSignal): Intake {
  const receive = async (request: WebhookRequest): Promise<WebhookResponse> => {
    const body = openBody(request.body);
    try {
      if (request.method !== 'POST') throw new WebhookError('method_not_allowed', 405, 'The service sends POST.');
      const gone = AbortSignal.any([signal, ...(request.signal ? [request.signal] : [])]);
      const bytes = await body.read({ ...request, signal: gone }, MAX_BODY_BYTES, BODY_TIMEOUT_MS);
      const message = { method: request.method, path: req.url ?? '/', headers: pairs(req.rawHeaders), body: bytes };
      const seen = look(message, options);
      if (options.events && !options.events.includes(seen.type ?? '')) return plain(200, 'not_subscribed');
      const capture = await options.captures?.keep(message, at);
      const answered = await answerTo({ ...request, body: bytes }, message, options, signal);
      await sleep(options.delayMs, undefined, { signal });
      intake.taken = { ...answered, message, seen, capture };
      return answered.response;
    } catch (problem) {
      body.drain();
      intake.taken = { problem };
      // Not kept is not acknowledged: the sender comes again.
      return isWebhookError(problem) ? toResponse({ kind: 'rejected', error: problem }) : plain(503, 'not_kept');
    }
  };
  const intake: Intake = Object.assign(receive, {
    begin: async (request: WebhookRequest) => ({ response: await receive(request) }),
  });
  return intake;
}

function pairs(raw: readonly string[]): HttpMessage['headers'] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
}
