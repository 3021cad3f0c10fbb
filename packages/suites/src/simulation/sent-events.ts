import { WEBHOOK_EVENT_TYPES, type WebhookEvent } from 'service-webhooks';
import type { Emulator, EmulatorDelivery } from 'service-webhooks-emulator';
import type { Random } from './random.js';
import type { WorldRecord } from './record.js';
import type { ServiceModel } from './service.js';
import type { Story } from './story.js';
import { tenantNames } from './tenants.js';
import type { VirtualTime } from './virtual-time.js';

/** An event that the service has sent. */
export interface SentEvent {
  readonly event: WebhookEvent;
  readonly tenant: string;
  /** What the event is about: `subjectOf` of the record. */
  readonly subject: string;
}

/** The events that the service sends, to one URL for all tenants. */
export interface SentEvents {
  /** The signing secret of each tenant. */
  readonly secrets: { readonly [tenant: string]: string };
  readonly sent: readonly SentEvent[];
  /** Whether every event was sent, and nothing more will be. */
  readonly isIdle: boolean;
  /** Begins to send the events, and submits their jobs. */
  start(): void;
  /** Returns whether the delivery of an event ended with a 2xx. */
  isAcknowledged(sent: SentEvent): boolean;
  /** Returns whether the service has lost the delivery of an event. */
  isLost(sent: SentEvent): boolean;
}

const URL_OF_ENDPOINT = 'https://receiver.example/webhooks';
const MINUTE_MS = 60_000;
/** How long after its submission the event of a job may come. */
const LONGEST_JOB_MS = 5 * MINUTE_MS;

export interface SentEventsParts {
  emulator: Emulator;
  time: VirtualTime;
  world: { random: Random; record: WorldRecord; service: ServiceModel; story: Story; counts: { events: number } };
  /** The largest number of events. */
  events: number;
  /** The number of tenants, each of which gets events with the ids of the others' events. */
  tenants: number;
}

export function createSentEvents({ emulator, time, world, events, tenants }: SentEventsParts): SentEvents {
  const { random, record, counts, service, story } = world;
  const sent: SentEvent[] = [];
  const endpoints = tenantNames(tenants).map((tenant, i) => {
    const account = i === 0 ? undefined : emulator.accounts.create().id;
    return { tenant, account, ...emulator.endpoints.create({ url: URL_OF_ENDPOINT, account }) };
  });

  const pause = (longest: readonly [number, ...number[]]) =>
    new Promise<void>((end) => time.after(random.between(0, random.pick(longest)), end));

  /** Sends an event to each tenant, with one id and one job id. */
  async function send(n: number): Promise<void> {
    const type = random.pick(typesToSend(record.handledTypes));
    const begin = tenants === 1 ? 0 : random.between(0, tenants - 1);
    let id: string | undefined;
    for (const { tenant, account } of [...endpoints.slice(begin), ...endpoints.slice(0, begin)]) {
      if (id !== undefined) await pause([20, MINUTE_MS]);
      const job = service.submit(type, `job_${n}`, tenants === 1 ? undefined : tenant);
      if (job) await pause([20, LONGEST_JOB_MS]);
      const overrides = { ...(id !== undefined && { id }), ...(job && { jobId: job.jobId }) };
      const { event } = await emulator.emit(type, overrides, { account });
      if (job) job.end = { type, data: event.data };
      id = event.id;
      const subject = record.subjectOf(event, tenant);
      story.tell('the service', `emits ${story.nameOf(subject)} (${type})${tenants === 1 ? '' : `, ${tenant}`}`);
      sent.push({ event, tenant, subject });
    }
  }

  function hasState({ event, tenant }: SentEvent, state: EmulatorDelivery['state']): boolean {
    const endpointId = endpoints.find((one) => one.tenant === tenant)?.id;
    return emulator.deliveries.list({ eventId: event.id, endpointId, state }).length > 0;
  }

  return {
    secrets: Object.fromEntries(endpoints.map(({ tenant, signingSecret }) => [tenant, signingSecret])),
    sent,
    get isIdle() {
      const isEnded = ({ state }: EmulatorDelivery) => state === 'delivered' || state === 'dead' || state === 'lost';
      return sent.length === counts.events && emulator.deliveries.list().every(isEnded);
    },
    start() {
      const ids = random.between(1, events);
      counts.events = ids * tenants;
      for (let n = 1; n <= ids; n += 1) {
        time.after(random.between(0, random.pick([20, MINUTE_MS])), () => void send(n));
      }
    },
    isAcknowledged: (one) => hasState(one, 'delivered'),
    isLost: (one) => hasState(one, 'lost'),
  };
}

/** Returns the types of events that have a handler. */
function typesToSend(handled: ReadonlySet<string> = new Set()): readonly [string, ...string[]] {
  const [first, ...others] = handled;
  return first === undefined || handled.has('*') ? WEBHOOK_EVENT_TYPES : [first, ...others];
}
