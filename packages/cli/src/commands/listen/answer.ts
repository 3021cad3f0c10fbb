import { ERRORS, type WebhookError, type WebhookRequest, type WebhookResponse } from 'service-webhooks';
import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import { isAccepted, LISTEN_HEADER } from '../../http/answer.js';
import { deliver, type SendResult } from '../../http/deliver.js';
import type { HttpMessage } from '../../http/http-message.js';
import { withPathOf } from '../../target.js';
import type { ListenOptions } from './options.js';

/** One app and its answer. */
export interface Forwarded {
  url: string;
  sent: SendResult;
}

/** The answer to the sender, and the answers of the apps that it was forwarded to. */
export interface Answered {
  response: WebhookResponse;
  /** The app whose answer decides: the first that does not acknowledge, or else the first. */
  forwarded?: Forwarded | undefined;
  /** The other apps. */
  others?: readonly Forwarded[];
}

/** Headers of the app's answer that the sender uses. */
const PASSED_ON = ['content-type', 'retry-after', 'idempotency-replayed'];

export async function answerTo(
  request: WebhookRequest,
  message: HttpMessage,
  targets: readonly URL[],
  { respond, receiver, ...options }: ListenOptions,
  signal: AbortSignal,
): Promise<Answered> {
  if (targets.length > 0) {
    const all = await Promise.all(targets.map((target) => forward(message, target, options, signal)));
    const forwarded = all.find(({ sent }) => !isAccepted(sent)) ?? (all[0] as Forwarded);
    const others = all.filter((one) => one !== forwarded);
    return {
      response: withStatus(toResponse(forwarded.sent), respond),
      forwarded,
      ...(others.length > 0 && { others }),
    };
  }
  if (respond !== undefined) return { response: plain(respond, 'as_told') };
  return { response: receiver ? await receiver(request) : plain(200, 'unverified') };
}

const ENDED = { problem: 'listen ended before the app answered', fix: 'Start listen again.' };

/** Forwards a delivery to one app. Never rejects. */
async function forward(
  message: HttpMessage,
  target: URL,
  { mark, insecure }: Pick<ListenOptions, 'mark' | 'insecure'>,
  signal: AbortSignal,
): Promise<Forwarded> {
  const url = withPathOf(target, message.path);
  const begun = performance.now();
  const headers = [...message.headers, [LISTEN_HEADER, mark] as const];
  const sent = await deliver({ ...message, headers, url, insecure }, { timeoutMs: ANSWER_TIMEOUT_MS, signal }).catch(
    (): SendResult => ({ ...ENDED, ms: Math.round(performance.now() - begun) }),
  );
  return { url: url.href, sent };
}

function toResponse(sent: SendResult): WebhookResponse {
  const { status, headers, body } = sent.status === undefined ? plain(502, 'app_did_not_answer') : sent;
  const passedOn = Object.entries(headers).filter(([name]) => PASSED_ON.includes(name));
  return { status, headers: { ...Object.fromEntries(passedOn), [LISTEN_HEADER]: 'answer of the app' }, body };
}

function withStatus(response: WebhookResponse, status = response.status): WebhookResponse {
  return { ...response, status };
}

/** RFC 9110 requires a scheme with 401 and the allowed methods with 405. */
const REQUIRED: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Webhook' },
  405: { allow: 'POST' },
};

/** Returns the answer of a receiver to a request that it refuses before a handler has it. */
export function refusedWith({ code, status }: WebhookError): WebhookResponse {
  const type = status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'api_error';
  const { message } = ERRORS[code];
  return {
    status,
    headers: { 'content-type': 'application/json', ...REQUIRED[status] },
    body: JSON.stringify({ error: { type, code, message, status } }),
  };
}

/** Returns an answer in the form of the library's own. */
export function plain(status: number, outcome: string): WebhookResponse {
  const body = status === 204 || status === 205 || status === 304 ? '' : JSON.stringify({ outcome });
  return { status, headers: { 'content-type': 'application/json' }, body };
}
