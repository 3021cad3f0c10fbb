import { env } from 'cloudflare:workers';
import type { DedupeStore, WebhookEvent } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { d1Store } from 'service-webhooks/stores/d1';
import { durableObjectStore } from 'service-webhooks/stores/durable-object';

export { DedupeObject } from 'service-webhooks/stores/durable-object';

const taken: Record<string, string[]> = { '/d1': [], '/durable-object': [], '/slow': [] };

// Made when the module is loaded, where Workers allow no request to another service.
const endpoints: Record<string, (request: Request) => Promise<Response>> = {
  '/d1': receiverOn('/d1', d1Store({ d1: env.DB })),
  '/durable-object': receiverOn('/durable-object', durableObjectStore({ namespace: env.DEDUPE })),
  '/slow': receiverOn('/slow', slowAtFirst(d1Store({ d1: env.DB }))),
};

/** One whose init takes longer the first time than anybody waits. */
function slowAtFirst(store: DedupeStore): DedupeStore {
  let calls = 0;
  const init = async () => {
    calls += 1;
    if (calls === 1) await new Promise((resolve) => setTimeout(resolve, 60_000));
    await store.init?.();
  };
  return { ...store, init };
}

function receiverOn(path: string, store: DedupeStore) {
  const take = async ({ id }: WebhookEvent) => {
    taken[path]?.push(id);
    if (id.startsWith('evt_bad')) throw new Error('as the test wants it');
  };
  return webhookHandler({ secret: env.WEBHOOK_SECRET, dedupe: { store, name: 'clips' }, on: { '*': take } });
}

export default {
  async fetch(request: Request): Promise<Response> {
    const receive = endpoints[new URL(request.url).pathname];
    return receive ? receive(request) : Response.json(taken);
  },
};
