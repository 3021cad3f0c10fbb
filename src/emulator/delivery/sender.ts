import { isAcknowledged } from '../../service/acknowledged.js';
import { RETRY_WAITS_MS } from '../../service/schedule.js';
import type { AttemptPlace, FaultPlan } from '../faults.js';
import type { Clock } from '../time/clock.js';
import type { RequestPool } from '../time/request-pool.js';
import type { Totals } from '../totals.js';
import type { Sent, Transport, WireRequest } from '../wire/transport.js';
import { type RequestOptions, requestOf, sendAttempt } from './attempt.js';
import type { AttemptLog } from './attempt-log.js';
import type { Deliveries, DeliveryRecord, NewDelivery } from './deliveries.js';
import { countDeadDelivery, type EndpointRecord } from './endpoints.js';

/** Sends deliveries and moves them between their states, as DELIVERY_TRANSITIONS lists them. */
export interface Sender {
  start(delivery: NewDelivery): DeliveryRecord;
  /** Starts the next attempt of a waiting delivery, unless its endpoint is paused. */
  due(delivery: DeliveryRecord): void;
  /** Calls {@link Sender.due} after that much time on the clock. */
  schedule(delivery: DeliveryRecord, ms: number): void;
  /** Starts the attempts that became due while their endpoint was paused. */
  resume(endpoint: EndpointRecord): void;
  /** Starts a dead delivery again. Returns false for any other. */
  redeliver(delivery: DeliveryRecord): boolean;
  /** Stops sending: running attempts have no effect. */
  stop(): void;
}

export interface SenderParts extends RequestOptions {
  clock: Clock;
  pool: RequestPool;
  transport: Transport;
  deliveries: Deliveries;
  log: AttemptLog;
  totals: Totals;
  hangAfterMs: number;
  planFaults(...place: AttemptPlace): FaultPlan;
}

export function createSender(parts: SenderParts): Sender {
  const { clock, pool, transport, deliveries, log, totals } = parts;
  let stopped = false;

  const isGone = (delivery: DeliveryRecord) => delivery.removed || stopped;

  function due(delivery: DeliveryRecord): void {
    delivery.timer = undefined;
    if (isGone(delivery) || delivery.state !== 'waiting' || isPaused(delivery)) return;
    delivery.state = 'sending';
    delivery.attempts += 1;
    delivery.dueAt = undefined;
    const plan = parts.planFaults(delivery.n, delivery.redeliveries, delivery.attempts);
    const send = () => pool.run(() => sendNow(delivery, plan));
    if (plan.holdMs === 0) send();
    else clock.after(plan.holdMs, send);
  }

  function schedule(delivery: DeliveryRecord, ms: number): void {
    delivery.dueAt = clock.instantAfter(ms);
    delivery.timer = clock.after(ms, () => due(delivery));
  }

  /** There is no `await` between the check and the start of the request, so that no pause can come between them. */
  async function sendNow(delivery: DeliveryRecord, plan: FaultPlan): Promise<void> {
    if (isGone(delivery)) return;
    if (isPaused(delivery)) {
      // The endpoint was paused after the attempt became due: the attempt waits for `resume`.
      delivery.state = 'waiting';
      delivery.attempts -= 1;
      return;
    }
    const number = delivery.attempts;
    const request = requestOf(delivery, plan, clock.now(), parts);
    const attempt = makeAttempt(delivery, { number, plan, request, duplicate: false });
    if (plan.duplicateAfterMs !== undefined) {
      const sendAgain = () => pool.run(() => sendDuplicate(delivery, { number, plan, request, duplicate: true }));
      if (plan.duplicateAfterMs === 0) sendAgain();
      else clock.after(plan.duplicateAfterMs, sendAgain);
    }
    await attempt;
  }

  async function sendDuplicate(delivery: DeliveryRecord, attempt: NewAttempt): Promise<void> {
    if (!isGone(delivery) && !isPaused(delivery)) await makeAttempt(delivery, attempt);
  }

  /** Sends a request, moves the delivery to its next state and logs the attempt. */
  async function makeAttempt(delivery: DeliveryRecord, attempt: NewAttempt): Promise<void> {
    const { number, plan, request, duplicate } = attempt;
    const at = clock.now();
    const sent = await sendAttempt(transport, request, plan, parts);
    const acknowledged = isDelivered(sent);
    totals.attempts += 1;
    totals[acknowledged ? 'acknowledged' : 'failed'] += 1;
    if (duplicate) totals.duplicates += 1;
    if (isGone(delivery)) return;
    if (!duplicate) finishAttempt(delivery, acknowledged);
    log.add({
      seq: totals.attempts,
      deliveryId: delivery.id,
      endpointId: delivery.endpoint.id,
      eventId: delivery.event.id,
      type: delivery.event.type,
      number,
      redelivery: delivery.redeliveries,
      duplicate,
      at,
      endedAt: clock.now(),
      request: { method: 'POST', url: request.url, headers: request.headers, body: request.body },
      answer: sent.answer,
      outcome: acknowledged ? 'acknowledged' : 'failed',
      reason: sent.failed ?? (acknowledged ? '2xx' : 'non-2xx'),
      error: sent.error,
      faults: plan.names,
      state: delivery.state,
      nextAt: delivery.dueAt?.(),
    });
  }

  /** Moves a delivery to its next state after an attempt. */
  function finishAttempt(delivery: DeliveryRecord, acknowledged: boolean): void {
    const { endpoint, test, attempts } = delivery;
    if (acknowledged) {
      delivery.state = 'delivered';
      endpoint.deadInARow = 0;
      totals.delivered += 1;
      deliveries.finished(delivery);
      return;
    }
    const wait = RETRY_WAITS_MS[attempts - 1];
    if (wait !== undefined && !test) {
      delivery.state = 'waiting';
      schedule(delivery, wait);
      return;
    }
    delivery.state = 'dead';
    totals.dead += 1;
    deliveries.finished(delivery);
    if (!test) countDeadDelivery(endpoint);
  }

  return {
    start(given) {
      const delivery = deliveries.add(given);
      due(delivery);
      return delivery;
    },
    due,
    schedule,
    resume(endpoint) {
      for (const delivery of deliveries.all()) {
        if (delivery.endpoint === endpoint && delivery.timer === undefined) due(delivery);
      }
    },
    redeliver(delivery) {
      if (isGone(delivery) || delivery.state !== 'dead') return false;
      deliveries.revived();
      delivery.state = 'waiting';
      delivery.attempts = 0;
      delivery.redeliveries += 1;
      due(delivery);
      return true;
    },
    stop() {
      stopped = true;
    },
  };
}

interface NewAttempt {
  number: number;
  plan: FaultPlan;
  request: WireRequest;
  /** Whether this request repeats an attempt: only the answer to the first request counts. */
  duplicate: boolean;
}

/** Returns whether the endpoint receives nothing at the moment. Tests reach a paused endpoint, too. */
function isPaused({ endpoint, test }: DeliveryRecord): boolean {
  return endpoint.state === 'paused' && !test;
}

function isDelivered({ answer, failed }: Sent): boolean {
  return failed === undefined && answer !== undefined && isAcknowledged(answer);
}
