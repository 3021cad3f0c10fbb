import { sign } from '../../signature.js';
import type { FaultPlan } from '../faults.js';
import { type AnswerTimeOptions, createAnswerTime } from '../wire/answer-time.js';
import type { Sent, Transport, WireRequest } from '../wire/transport.js';
import type { DeliveryRecord } from './deliveries.js';
import { ANSWER_TIMEOUT_MS } from './schedule.js';

export interface RequestOptions {
  headerPrefix: string;
  /** The envelope's timestamp is the time of the attempt, not of the first one. */
  renewTimestamp: boolean;
}

/** The request of the current attempt of a delivery (specification, section 6.2), with what goes wrong with it. */
export function requestOf(
  { event, endpoint, attempts }: DeliveryRecord,
  plan: FaultPlan,
  now: number,
  { headerPrefix, renewTimestamp }: RequestOptions,
): WireRequest {
  const body = renewTimestamp ? withTimestamp(event.body, now) : event.body;
  return {
    url: endpoint.url,
    headers: {
      'content-type': 'application/json',
      ...sign({ body, secret: endpoint.secret, at: now, headerPrefix }),
      [`${headerPrefix}-timestamp`]: String(Math.floor(now / 1000)),
      [`${headerPrefix}-webhook-id`]: endpoint.id,
      [`${headerPrefix}-attempt`]: String(attempts),
      'idempotency-key': event.idempotencyKey,
    },
    body: plan.damage(body),
    slow: plan.slow,
    reset: plan.reset,
  };
}

function withTimestamp(body: Uint8Array, now: number): Uint8Array {
  const envelope = JSON.parse(new TextDecoder().decode(body));
  return new TextEncoder().encode(JSON.stringify({ ...envelope, timestamp: new Date(now).toISOString() }));
}

/** Sends it and waits for the answer, as long as the service would. Never rejects. */
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
    time.interrupt(); // an answer may come while the body is still being sent, slowly
    if (sent.failed === 'timeout') await time.hold(ANSWER_TIMEOUT_MS); // what the clock has left of them
    if (sent.failed !== undefined || plan.delayMs === 0) return sent;
    return (await time.hold(plan.delayMs)) ? sent : { ...sent, failed: 'timeout', error: 'the answer came too late' };
  } catch (cause) {
    return { failed: 'connection_error', error: inWords(cause) };
  } finally {
    time.end();
  }
}

/** Of several addresses that were tried in vain there is only a code. */
function inWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}
