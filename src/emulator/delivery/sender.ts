import type { AttemptPlace, FaultPlan } from '../faults.js';
import type { Clock } from '../time/clock.js';
import type { Work } from '../time/work.js';
import type { Totals } from '../totals.js';
import type { Sent, Transport, WireRequest } from '../wire/transport.js';
import { type RequestOptions, requestOf, sendAttempt } from './attempt.js';
import type { Attempt, AttemptLog } from './attempt-log.js';
import type { Deliveries, DeliveryRecord, NewDelivery } from './deliveries.js';
import { DELIVERY_TRANSITIONS, type DeliveryTransition, findTransition } from './delivery-states.js';
import { type EndpointRecord, moveEndpoint } from './endpoints.js';
import { RETRY_WAITS_MS } from './schedule.js';

/** Moves deliveries along the table of their states. */
export interface Sender {
  start(delivery: NewDelivery): DeliveryRecord;
  /** Goes on with a delivery when its time has come; one whose endpoint is paused stays where it is. */
  due(delivery: DeliveryRecord): void;
  /** {@link Sender.due}, later. */
  schedule(delivery: DeliveryRecord, ms: number): void;
  /** Goes on with the deliveries whose time came while their endpoint was paused. */
  resume(endpoint: EndpointRecord): void;
  /** A dead delivery starts again. Gives whether it was one. */
  redeliver(delivery: DeliveryRecord): boolean;
  /** Nothing is sent any more, and no answer counts. */
  stop(): void;
}

export interface SenderParts extends RequestOptions {
  clock: Clock;
  work: Work;
  transport: Transport;
  deliveries: Deliveries;
  log: AttemptLog;
  totals: Totals;
  hangAfterMs: number;
  planFaults(...place: AttemptPlace): FaultPlan;
}

export function createSender(parts: SenderParts): Sender {
  const { clock, work, transport, deliveries, log, totals, planFaults } = parts;
  let stopped = false;

  const effects: Record<DeliveryTransition['also'], (delivery: DeliveryRecord) => void> = {
    send(delivery) {
      delivery.attempts += 1;
      delivery.dueAt = undefined;
      const plan = planFaults(delivery.n, delivery.redeliveries, delivery.attempts);
      const launch = () => work.run(() => attempt(delivery, plan));
      if (plan.holdMs === 0) launch();
      else clock.after(plan.holdMs, launch);
    },
    'reset dead count'(delivery) {
      delivery.endpoint.deadInARow = 0;
      totals.delivered += 1;
      deliveries.finished(delivery);
    },
    'schedule retry'(delivery) {
      schedule(delivery, RETRY_WAITS_MS[delivery.attempts - 1] ?? 0);
    },
    'count dead'(delivery) {
      effects['nothing else'](delivery);
      delivery.endpoint.deadInARow += 1;
      moveEndpoint(delivery.endpoint, 'dead delivery');
    },
    'nothing else'(delivery) {
      totals.dead += 1;
      deliveries.finished(delivery);
    },
    'start again'(delivery) {
      deliveries.revived();
      delivery.attempts = 0;
      delivery.redeliveries += 1;
      due(delivery);
    },
  };

  /** Follows the row of the table that applies; false where there is none. */
  function move(delivery: DeliveryRecord, on: DeliveryTransition['on']): boolean {
    const row = findTransition(DELIVERY_TRANSITIONS, delivery.state, on, (condition) => holds(condition, delivery));
    if (row === undefined || delivery.removed || stopped) return false;
    delivery.state = row.to;
    effects[row.also](delivery);
    return true;
  }

  function due(delivery: DeliveryRecord): void {
    delivery.timer = undefined;
    move(delivery, 'due');
  }

  function schedule(delivery: DeliveryRecord, ms: number): void {
    delivery.dueAt = clock.instantAfter(ms);
    delivery.timer = clock.after(ms, () => due(delivery));
  }

  async function attempt(delivery: DeliveryRecord, plan: FaultPlan): Promise<void> {
    if (delivery.removed || stopped) return;
    const at = clock.now();
    const request = requestOf(delivery, plan, at, parts);
    const number = delivery.attempts;
    const sending = sendAttempt(transport, request, plan, parts); // before its twin
    if (plan.duplicateAfterMs !== undefined) {
      const twin = () => work.run(() => sendTwin(delivery, number, request, plan));
      if (plan.duplicateAfterMs === 0) twin();
      else clock.after(plan.duplicateAfterMs, twin);
    }
    const sent = await sending;
    move(delivery, isAcknowledged(sent) ? '2xx' : 'failure');
    record(delivery, { number, at, plan, request, sent, duplicate: false });
  }

  /** The same request once more: whatever comes of it, it is the first one's answer that counts. */
  async function sendTwin(
    delivery: DeliveryRecord,
    number: number,
    request: WireRequest,
    plan: FaultPlan,
  ): Promise<void> {
    if (delivery.removed || stopped) return;
    const at = clock.now();
    const sent = await sendAttempt(transport, request, plan, parts);
    totals.duplicates += 1;
    record(delivery, { number, at, plan, request, sent, duplicate: true });
  }

  function record(delivery: DeliveryRecord, made: Made): void {
    const { number, at, plan, request, sent, duplicate } = made;
    const acknowledged = isAcknowledged(sent);
    totals.attempts += 1;
    totals[acknowledged ? 'acknowledged' : 'failed'] += 1;
    if (delivery.removed || stopped) return;
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
      reason: reasonOf(sent),
      error: sent.error,
      faults: plan.names,
      state: delivery.state,
      nextAt: delivery.dueAt?.(),
    });
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
    redeliver: (delivery) => move(delivery, 'redelivery'),
    stop() {
      stopped = true;
    },
  };
}

interface Made {
  number: number;
  at: number;
  plan: FaultPlan;
  request: WireRequest;
  sent: Sent;
  duplicate: boolean;
}

function holds(condition: DeliveryTransition['when'], delivery: DeliveryRecord): boolean {
  switch (condition) {
    case 'always':
      return true;
    case 'endpoint active':
      return delivery.endpoint.state === 'active';
    case 'test delivery':
      return delivery.test;
    case 'retries left':
      return delivery.attempts <= RETRY_WAITS_MS.length;
    case 'retries used':
      return !holds('retries left', delivery);
  }
}

function isAcknowledged({ answer, failed }: Sent): boolean {
  return failed === undefined && answer !== undefined && answer.status >= 200 && answer.status <= 299;
}

function reasonOf(sent: Sent): Attempt['reason'] {
  return sent.failed ?? (isAcknowledged(sent) ? '2xx' : 'non-2xx');
}
