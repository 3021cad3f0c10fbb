import type { WebhookRequest, WebhookResponse } from '../../http.js';
import { ANSWER_TIMEOUT_MS, deliver, type Sent } from '../deliver.js';
import type { HttpMessage } from '../http-file.js';
import { withPathOf } from '../target.js';
import type { ListenOptions } from './options.js';

/** What the sender is answered, and what the app said where it was asked. */
export interface Answered {
  response: WebhookResponse;
  forwarded?: { url: string; sent: Sent };
}

/** Headers of the app's answer that mean something to a sender. */
const PASSED_ON = ['content-type', 'retry-after', 'idempotency-replayed'];

export async function answerTo(
  request: WebhookRequest,
  message: HttpMessage,
  { respond, target, receiver }: ListenOptions,
  signal: AbortSignal,
): Promise<Answered> {
  if (target !== undefined) {
    const url = withPathOf(target, message.path);
    const sent = await deliver({ ...message, url }, { timeoutMs: ANSWER_TIMEOUT_MS, signal });
    return { response: withStatus(toResponse(sent), respond), forwarded: { url: url.href, sent } };
  }
  if (respond !== undefined) return { response: plain(respond, 'as_told') };
  return { response: receiver ? await receiver(request) : plain(200, 'unverified') };
}

function toResponse(sent: Sent): WebhookResponse {
  if (sent.status === undefined) return plain(502, 'app_did_not_answer');
  const headers = Object.entries(sent.headers).filter(([name]) => PASSED_ON.includes(name));
  return { status: sent.status, headers: Object.fromEntries(headers), body: sent.body };
}

function withStatus(response: WebhookResponse, status = response.status): WebhookResponse {
  return { ...response, status };
}

/** The same form as the library's own. */
export function plain(status: number, outcome: string): WebhookResponse {
  const body = status === 204 || status === 205 || status === 304 ? '' : JSON.stringify({ outcome });
  return { status, headers: { 'content-type': 'application/json' }, body };
}
