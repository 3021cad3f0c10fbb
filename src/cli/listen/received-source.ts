import { check } from '../../check.js';
import { RETRY_WAITS_MS } from '../../emulator/delivery/schedule.js';
import { WEBHOOK_EVENT_TYPES } from '../../event.js';
import type { Change, PageSource } from '../../page/page-source.js';
import { sampleEvent } from '../../testing/sample-event.js';
import { signDelivery } from '../../testing/sign-delivery.js';
import { ANSWER_TIMEOUT_MS, deliver } from '../deliver.js';
import { asSpecified } from '../delivery-headers.js';
import { signAnew } from '../sign-anew.js';
import { withPathOf } from '../target.js';
import type { ListenOptions } from './options.js';
import { createReceivedLog, type KeptRequest, type Received } from './received-log.js';
import { toAttemptDetails, toAttemptRow, toDeliveryRow } from './show-received.js';

/** What `listen` has received, for the page. */
export interface ReceivedSource extends PageSource {
  add(received: Received): void;
}

/** `ownUrl`: where `listen` listens, to which the page's samples go, and replays where there is no app. */
export function createReceivedSource(options: ListenOptions, ownUrl: () => URL, signal: AbortSignal): ReceivedSource {
  const { target, secrets, headerPrefix = 'x-service', now } = options;
  const [secret] = secrets ?? [];
  const log = createReceivedLog();
  const watchers = new Set<(change: Change) => void>();
  const wire = { timeoutMs: ANSWER_TIMEOUT_MS, signal };
  const overview = () => ({ now: now(), speed: 1, endpoints: [], failing: 0 });
  const rowOf = (id: string) => toDeliveryRow(id, log.deliveries.get(id) ?? [], headerPrefix);

  function keep(request: Omit<KeptRequest, 'id'>): void {
    const { deliveryId, removed } = log.add(request);
    const change = { overview: overview(), deliveries: [rowOf(deliveryId)], removed };
    for (const changed of watchers) changed(change);
  }

  async function replay(id: string, exact: boolean): Promise<string> {
    const last = log.deliveries.get(id)?.at(-1);
    check(last !== undefined, 'it is not kept any more');
    check(exact || secret !== undefined, 'there is no secret to sign it with: send it as it was');
    const at = now();
    const anew = exact || secret === undefined ? {} : { headers: signAnew(last.message, { secret, at, headerPrefix }) };
    const message = { ...last.message, ...anew };
    const url = withPathOf(target ?? ownUrl(), message.path);
    const sent = await deliver({ ...message, url }, wire);
    const response = sent.status === undefined ? { status: 0, headers: {}, body: '' } : sent;
    const { problem } = sent;
    // What comes in here is kept without this.
    if (target) keep({ ...last, at, endedAt: now(), url: url.href, message, response, problem, kind: 'replay' });
    return `It was sent again: ${problem ?? sent.status}.`;
  }

  async function send(name: string): Promise<string> {
    const type = WEBHOOK_EVENT_TYPES.find((known) => known === name);
    check(type !== undefined, 'type must be one of the service');
    const event = sampleEvent(type);
    const { headers, ...request } = signDelivery({ secret: secret ?? 'there is none', event, headerPrefix });
    const { problem, status } = await deliver({ ...request, headers: asSpecified(headers), url: ownUrl() }, wire);
    return `${type} was sent: ${problem ?? status}.`;
  }

  return {
    title: 'Deliveries that were received',
    add: (received) => keep({ ...received, kind: 'attempt' }),
    snapshot: () => ({ overview: overview(), deliveries: [...log.deliveries.keys()].map(rowOf) }),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    delivery(id) {
      const kept = log.deliveries.get(id);
      if (kept === undefined) return undefined;
      return { delivery: rowOf(id), attempts: kept.map(toAttemptRow), waits: RETRY_WAITS_MS, offers: ['replay'] };
    },
    attempt(id) {
      const found = log.requests.get(id);
      return found && toAttemptDetails(found, options);
    },
    actions: { replay: ({ delivery, exact }) => replay(delivery, exact), send: ({ type }) => send(type) },
  };
}
