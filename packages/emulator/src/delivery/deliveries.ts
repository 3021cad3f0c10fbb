import { check } from 'service-webhooks/option-checks';
import type { Random } from '../random.js';
import type { Timer } from '../time/timers.js';
import { createBoundedLog } from './bounded-log.js';
import type { DeliveryState } from './delivery-states.js';
import type { EmittedEvent } from './emitted-event.js';
import type { EndpointRecord } from './endpoints.js';

/** One event on its way to one endpoint. */
export interface DeliveryRecord {
  readonly id: string;
  /** The number of the delivery among all deliveries of the emulator, from 1. */
  readonly n: number;
  readonly event: EmittedEvent;
  readonly endpoint: EndpointRecord;
  /** Whether this is a test of the endpoint: sent once, and also to a paused endpoint. */
  readonly test: boolean;
  readonly createdAt: number;
  state: DeliveryState;
  /** Attempts since the delivery was created or last redelivered. */
  attempts: number;
  redeliveries: number;
  /** Returns when the next attempt is due, in milliseconds since the epoch. */
  dueAt: (() => number) | undefined;
  timer: Timer | undefined;
  /** Whether its endpoint was removed: a running attempt then has no effect. */
  removed: boolean;
}

/** A delivery, as the emulator's methods return it. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  /** The job that the event is about; null for none. */
  readonly jobId: string | null;
  readonly endpointId: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly redeliveries: number;
  readonly test: boolean;
  readonly createdAt: number;
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly nextAt: number | undefined;
}

export type NewDelivery = Pick<DeliveryRecord, 'n' | 'event' | 'endpoint' | 'test' | 'createdAt'> &
  Partial<DeliveryRecord>;

/** All pending deliveries, and the latest of the finished ones. */
export interface Deliveries {
  /** @throws WebhookError `invalid_option` when `more` pending deliveries would exceed `maxPending` */
  checkRoom(more: number): void;
  add(delivery: NewDelivery): DeliveryRecord;
  get(id: string): DeliveryRecord | undefined;
  /** Records that a pending delivery is now delivered, dead or lost. */
  finished(delivery: DeliveryRecord): void;
  /** Records that a dead or lost delivery is pending again. */
  revived(): void;
  removeOf(endpoint: EndpointRecord): void;
  all(): Iterable<DeliveryRecord>;
  clear(): void;
}

export interface DeliveriesOptions {
  random: Random;
  maxPending: number;
  keep: { delivered: number; dead: number; bytes: number };
}

/** Estimated memory of a delivery without its body. */
const DELIVERY_BYTES = 1_024;

export function createDeliveries({ random, maxPending, keep }: DeliveriesOptions): Deliveries {
  const byId = new Map<string, DeliveryRecord>();
  let pending = 0;
  const createFinished = (maxItems: number) =>
    createBoundedLog<{ delivery: DeliveryRecord; redeliveries: number }>({
      maxItems,
      maxBytes: keep.bytes,
      bytesOf: ({ delivery }) => delivery.event.body.length + DELIVERY_BYTES,
      // A delivery that was redelivered in the meantime is pending, or is in the log again further on.
      onDropped({ delivery, redeliveries }) {
        if (delivery.redeliveries === redeliveries) byId.delete(delivery.id);
      },
    });
  const delivered = createFinished(keep.delivered);
  /** Those that can be redelivered. */
  const dead = createFinished(keep.dead);

  return {
    checkRoom(more) {
      const hint = 'deliveries are pending; advance the clock until they end, or raise maxPending';
      check(pending + more <= maxPending, `maxPending: ${pending} ${hint}`);
    },
    add(delivery) {
      const record: DeliveryRecord = {
        id: random.id('dlv', delivery.n),
        state: 'waiting',
        attempts: 0,
        redeliveries: 0,
        dueAt: undefined,
        timer: undefined,
        removed: false,
        ...delivery,
      };
      byId.set(record.id, record);
      pending += 1;
      return record;
    },
    get: (id) => byId.get(id),
    finished(delivery) {
      pending -= 1;
      (delivery.state === 'delivered' ? delivered : dead).add({ delivery, redeliveries: delivery.redeliveries });
    },
    revived() {
      pending += 1;
    },
    removeOf(endpoint) {
      for (const delivery of byId.values()) {
        if (delivery.endpoint !== endpoint) continue;
        if (!isFinished(delivery)) pending -= 1;
        delivery.removed = true;
        delivery.timer?.cancel();
        byId.delete(delivery.id);
      }
    },
    all: () => byId.values(),
    clear() {
      byId.clear();
      for (const finished of [delivered, dead]) finished.filter(() => false);
      pending = 0;
    },
  };
}

export function isFinished({ state }: Pick<DeliveryRecord, 'state'>): boolean {
  return state === 'delivered' || state === 'dead' || state === 'lost';
}

export function showDelivery(delivery: DeliveryRecord): EmulatorDelivery {
  const { id, event, endpoint, state, attempts, redeliveries, test, createdAt, dueAt } = delivery;
  return {
    id,
    eventId: event.id,
    type: event.type,
    jobId: event.jobId,
    endpointId: endpoint.id,
    state,
    attempts,
    redeliveries,
    test,
    createdAt,
    nextAt: dueAt?.(),
  };
}
