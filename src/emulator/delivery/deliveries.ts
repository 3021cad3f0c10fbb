import { check } from '../../check.js';
import type { Random } from '../random.js';
import type { Timer } from '../time/timers.js';
import type { DeliveryState } from './delivery-states.js';
import type { EndpointRecord } from './endpoints.js';
import { createKept } from './kept.js';

/** An event as it was emitted; the same for every endpoint that receives it. */
export interface EmittedEvent {
  readonly id: string;
  readonly type: string;
  readonly idempotencyKey: string;
  readonly body: Uint8Array;
}

/** One event on its way to one endpoint. */
export interface DeliveryRecord {
  readonly id: string;
  /** Counts all deliveries of the emulator, from 1. */
  readonly n: number;
  readonly event: EmittedEvent;
  readonly endpoint: EndpointRecord;
  /** Sent by hand to try the endpoint: once, whether it is paused or not. */
  readonly test: boolean;
  readonly createdAt: number;
  state: DeliveryState;
  /** Attempts so far, since it was last redelivered. */
  attempts: number;
  redeliveries: number;
  /** When the next attempt is due. */
  dueAt: (() => number) | undefined;
  timer: Timer | undefined;
  /** Its endpoint is gone: nothing that still happens to it counts. */
  removed: boolean;
}

/** What can be seen of a delivery. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
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

/** All deliveries that are still going on, and the latest of those that are not. */
export interface Deliveries {
  /** @throws WebhookError `invalid_option` when so many more would be too many */
  checkRoom(more: number): void;
  add(delivery: NewDelivery): DeliveryRecord;
  get(id: string): DeliveryRecord | undefined;
  /** To be called when one has been delivered or is dead. */
  finished(delivery: DeliveryRecord): void;
  /** To be called when a finished one goes on. */
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

/** About what a delivery takes beside its body. */
const DELIVERY_BYTES = 1_024;

export function createDeliveries({ random, maxPending, keep }: DeliveriesOptions): Deliveries {
  const byId = new Map<string, DeliveryRecord>();
  let pending = 0;
  const createFinished = (maxItems: number) =>
    createKept<{ delivery: DeliveryRecord; redeliveries: number }>({
      maxItems,
      maxBytes: keep.bytes,
      bytesOf: ({ delivery }) => delivery.event.body.length + DELIVERY_BYTES,
      // One that was redelivered since then goes on, or has a later place here.
      evicted({ delivery, redeliveries }) {
        if (delivery.redeliveries === redeliveries) byId.delete(delivery.id);
      },
    });
  const delivered = createFinished(keep.delivered);
  const dead = createFinished(keep.dead);

  return {
    checkRoom(more) {
      const hint = 'deliveries are going on: let them end (advance the clock), or raise it';
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
      (delivery.state === 'dead' ? dead : delivered).add({ delivery, redeliveries: delivery.redeliveries });
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

export function isFinished({ state }: DeliveryRecord): boolean {
  return state === 'delivered' || state === 'dead';
}

export function showDelivery(delivery: DeliveryRecord): EmulatorDelivery {
  const { id, event, endpoint, state, attempts, redeliveries, test, createdAt, dueAt } = delivery;
  const { id: eventId, type } = event;
  return {
    id,
    eventId,
    type,
    endpointId: endpoint.id,
    state,
    attempts,
    redeliveries,
    test,
    createdAt,
    nextAt: dueAt?.(),
  };
}
