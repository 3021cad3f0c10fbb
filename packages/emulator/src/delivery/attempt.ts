import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import { deliveryHeaders, eventJson } from 'service-webhooks/testing';
import type { FaultPlan } from '../faults.js';
import { type AnswerTimeOptions, createAnswerTime } from '../wire/answer-time.js';
import type { Sent, Transport, WireRequest } from '../wire/transport.js';
import type { DeliveryRecord } from './deliveries.js';

export interface RequestOptions {
  headerPrefix: string;
  /** Whether the envelope's timestamp is the time of the attempt instead of the time of the event. */
  renewTimestamp: boolean;
}

/** Returns the request of the current attempt, with the faults that change it. */
export function requestOf(
  { event, endpoint, attempts }: DeliveryRecord,
  plan: FaultPlan,
  now: number,
  { headerPrefix, renewTimestamp }: RequestOptions,
): WireRequest {
  const body = renewTimestamp ? withTimestamp(event.body, now) : event.body;
  return {
    url: endpoint.url,
    headers: deliveryHeaders({
      body,
      secret: endpoint.secret,
      at: now,
      attempt: attempts,
      webhookId: endpoint.id,
      idempotencyKey: event.idempotencyKey,
      headerPrefix,
    }),
    body: plan.damage(body),
    slow: plan.slow,
    reset: plan.reset,
  };
}

function withTimestamp(body: Uint8Array, now: number): Uint8Array {
  const envelope = JSON.parse(new TextDecoder().decode(body));
  return new TextEncoder().encode(eventJson({ ...envelope, timestamp: new Date(now).toISOString() }));
}

/** Sends a request and waits for its answer as long as the service does. Never rejects. */
export async function sendAttempt(
  transport: Transport,
  request: WireRequest,
  plan: FaultPlan,
  options: AnswerTimeOptions,
): Promise<Sent> {
  const time = createAnswerTime(options);
  try {
    if (plan.drop) {
      await time.hold(ANSWER_TIMEOUT_MS);
      return { failed: 'timeout', error: 'the request was lost' };
    }
    const sent = await transport.send(request, time);
    time.interrupt(); // an answer may arrive while the body is still being sent slowly
    if (sent.failed === 'timeout') await time.hold(ANSWER_TIMEOUT_MS); // the wait that is left on the emulator's clock
    if (sent.failed !== undefined || plan.delayMs === 0) return sent;
    return (await time.hold(plan.delayMs)) ? sent : { ...sent, failed: 'timeout', error: 'the answer came too late' };
  } catch (cause) {
    return { failed: 'connection_error', error: inWords(cause) };
  } finally {
    time.end();
  }
}

/** Returns an error in words. An AggregateError of several failed addresses has a code and no message. */
function inWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}
