import { isAcknowledged, MAX_ATTEMPTS, RETRY_WAITS_MS } from 'service-webhooks/service';
import type { FaultPlan, FaultPlans } from '../faults.js';
import type { Clock } from '../time/clock.js';
import type { RequestPool } from '../time/request-pool.js';
import type { Totals } from '../totals.js';
import type { Sent, Transport, WireRequest } from '../wire/transport.js';
import { type RequestOptions, requestOf, sendAttempt } from './attempt.js';
import type { AttemptLog } from './attempt-log.js';
import { type Deliveries, type DeliveryRecord, isFinished, type NewDelivery } from './deliveries.js';
import { type Conditions, DELIVERY_TRANSITIONS, type DeliveryTransition, findTransition } from './delivery-states.js';
import { countDeadDelivery, type EndpointRecord } from './endpoints.js';

/** Sends deliveries and moves them between their states, as {@link DELIVERY_TRANSITIONS} lists them. */
export interface Sender {
  /** Starts the first attempt of a delivery, unless the fault `never` loses it. */
  start(delivery: NewDelivery): DeliveryRecord;
  /** Starts the next attempt of a waiting delivery, unless its endpoint is paused. */
  due(delivery: DeliveryRecord): void;
  /** Calls {@link Sender.due} after that much time on the clock. */
  schedule(delivery: DeliveryRecord, ms: number): void;
  /** Starts the attempts that became due while their endpoint was paused. */
  resume(endpoint: EndpointRecord): void;
  /** Starts a dead or lost delivery again. Returns false for any other. */
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
  /** Returns the faults that occur now. */
  faults(): FaultPlans;
}

export function createSender(parts: SenderParts): Sender {
  const { clock, pool, transport, deliveries, log, totals } = parts;
  let stopped = false;

  const isGone = (delivery: DeliveryRecord) => delivery.removed || stopped;

  /** The side effects of each transition. */
  const effects: Readonly<Record<DeliveryTransition['also'], (delivery: DeliveryRecord) => void>> = {
    send(delivery) {
      delivery.attempts += 1;
      delivery.dueAt = undefined;
      const plan = parts.faults().planOf(delivery.n, delivery.redeliveries, delivery.attempts);
      const send = () => pool.run(() => sendNow(delivery, plan));
      if (plan.holdMs === 0) send();
      else clock.after(plan.holdMs, send);
    },
    'take attempt back'(delivery) {
      delivery.attempts -= 1;
    },
    'schedule retry'(delivery) {
      schedule(delivery, RETRY_WAITS_MS[delivery.attempts - 1] as number);
    },
    'start again'(delivery) {
      deliveries.revived();
      delivery.attempts = 0;
      delivery.redeliveries += 1;
      due(delivery);
    },
    'reset dead count'({ endpoint }) {
      endpoint.deadInARow = 0;
    },
    'count dead': ({ endpoint }) => countDeadDelivery(endpoint),
    'nothing else'() {},
  };

  function due(delivery: DeliveryRecord): void {
    delivery.timer = undefined;
    if (!isGone(delivery)) move(delivery, 'due');
  }

  function schedule(delivery: DeliveryRecord, ms: number): void {
    delivery.dueAt = clock.instantAfter(ms);
    delivery.timer = clock.after(ms, () => due(delivery));
  }

  /** There is no `await` between the check and the start of the request, so that no pause can come between them. */
  async function sendNow(delivery: DeliveryRecord, plan: FaultPlan): Promise<void> {
    if (isGone(delivery)) return;
    if (isPaused(delivery)) {
      move(delivery, 'pause'); // it was paused after the attempt became due
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
    if (!duplicate) move(delivery, acknowledged ? '2xx' : 'failure');
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

  /** Moves a delivery to its next state, as {@link DELIVERY_TRANSITIONS} lists it. Returns false without a row. */
  function move(delivery: DeliveryRecord, event: DeliveryTransition['on']): boolean {
    const row = findTransition(DELIVERY_TRANSITIONS, CONDITIONS, delivery, event);
    if (row === undefined) return false;
    delivery.state = row.to;
    if (row.to === 'delivered' || row.to === 'dead' || row.to === 'lost') totals[row.to] += 1;
    if (isFinished(delivery)) deliveries.finished(delivery);
    effects[row.also](delivery);
    return true;
  }

  return {
    start(given) {
      const delivery = deliveries.add(given);
      if (parts.faults().loses(delivery.n)) move(delivery, 'loss');
      else due(delivery);
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
      return !isGone(delivery) && move(delivery, 'redelivery');
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

const CONDITIONS: Conditions<DeliveryTransition, DeliveryRecord> = {
  'endpoint active': ({ endpoint }) => endpoint.state === 'active',
  'test delivery': ({ test }) => test,
  'retries left': ({ attempts }) => attempts < MAX_ATTEMPTS,
  'retries used': ({ attempts }) => attempts >= MAX_ATTEMPTS,
  always: () => true,
};

/** Returns whether the endpoint receives nothing at the moment. Tests reach a paused endpoint, too. */
function isPaused({ endpoint, test }: DeliveryRecord): boolean {
  return endpoint.state === 'paused' && !test;
}

function isDelivered({ answer, failed }: Sent): boolean {
  return failed === undefined && answer !== undefined && isAcknowledged(answer);
}
