import {
  type BegunDelivery,
  createReceiver,
  type DedupeOptions,
  type DedupeStore,
  type Delivery,
  type EventOf,
  type EventType,
  type Handler,
  type HandlerContext,
  type Handlers,
  memoryStore,
  type Outcome,
  type Receiver,
  type WebhookError,
  type WebhookEvent,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { observeQueue } from 'service-webhooks/otel';
import type { OperatedQueue } from 'service-webhooks/queue';
import { describe, expectTypeOf, it } from 'vitest';

const secret = 'secret';

describe('handlers', () => {
  it('get the event of their type, and a context that agrees with it', () => {
    createReceiver({
      secret,
      on: {
        'generation.completed': (event, context) => {
          expectTypeOf(event).toEqualTypeOf<EventOf<'generation.completed'>>();
          expectTypeOf(event.data.downloadUrl).toBeString();
          expectTypeOf(context).toEqualTypeOf<HandlerContext<EventOf<'generation.completed'>>>();
          expectTypeOf(context.delivery.event).toEqualTypeOf<EventOf<'generation.completed'>>();
          expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
          expectTypeOf(context.attempt).toBeNumber();
          expectTypeOf(context.fence).toBeNumber();
        },
        'stt.completed': async (event) => {
          expectTypeOf(event.type).toEqualTypeOf<'stt.completed'>();
        },
        '*': (event, { delivery }) => {
          expectTypeOf(event).toEqualTypeOf<WebhookEvent>();
          expectTypeOf(delivery).toEqualTypeOf<Delivery>();
        },
      },
    });
    expectTypeOf<keyof Handlers>().toEqualTypeOf<EventType | '*'>();
  });

  it('are known by name', () => {
    // @ts-expect-error -- no such event
    createReceiver({ secret, on: { 'generation.complete': () => {} } });
  });

  it('return nothing, the status they ask for, or whatever else', () => {
    expectTypeOf<() => void>().toExtend<Handler>();
    expectTypeOf<() => Promise<void>>().toExtend<Handler>();
    expectTypeOf<() => { status: number }>().toExtend<Handler>();
    expectTypeOf<() => Promise<{ status: number }>>().toExtend<Handler>();
    expectTypeOf<() => Promise<string[]>>().toExtend<Handler>();
  });

  it('of any event can stand where one of a single type is asked for, not the other way round', () => {
    expectTypeOf<Handler>().toExtend<Handler<EventOf<'stt.failed'>>>();
    expectTypeOf<Handler<EventOf<'stt.failed'>>>().not.toExtend<Handler>();
  });
});

describe('options', () => {
  it('may be undefined, each of them, but for the secret', () => {
    createReceiver({
      secret,
      on: { '*': undefined, 'stt.failed': undefined },
      dedupe: undefined,
      maxBodyBytes: undefined,
      deadlineMs: undefined,
      observe: undefined,
      headerPrefix: undefined,
      legacy: undefined,
      toleranceSeconds: undefined,
      now: undefined,
    });
    createReceiver({
      secret,
      on: undefined,
      dedupe: {
        store: memoryStore({ maxEntries: undefined, now: undefined }),
        name: undefined,
        key: undefined,
        leaseMs: undefined,
        retainMs: undefined,
        onStoreError: undefined,
      },
    });
    // @ts-expect-error -- an environment variable may be missing
    createReceiver({ secret: undefined as string | undefined });
    // @ts-expect-error -- a secret is required
    createReceiver({});
  });

  it('take a secret, several, or a function that fetches them', () => {
    createReceiver({ secret: new Uint8Array(32) });
    createReceiver({ secret: ['one', new Uint8Array(32)] as const });
    createReceiver({ secret: { acme: 'one', globex: ['two', new Uint8Array(32)] } });
    createReceiver({ secret: async () => ({ tenant: 'acme', secrets: ['one'] }) });
    // @ts-expect-error -- the secrets of a tenant have no tenants
    createReceiver({ secret: { acme: { eu: 'one' } } });
    // @ts-expect-error -- a function says whose the secrets are, or returns a list
    createReceiver({ secret: async () => ({ secrets: ['one'] }) });
    createReceiver({
      secret: async ({ webhookId }) => {
        expectTypeOf(webhookId).toEqualTypeOf<string | undefined>();
        return ['one', 'two'];
      },
    });
  });

  it('switch dedupe off by false alone', () => {
    createReceiver({ secret, dedupe: false });
    // @ts-expect-error -- true says nothing about the store
    createReceiver({ secret, dedupe: true });
    createReceiver({ secret, dedupe: { key: 'idempotency-key' } });
    expectTypeOf<NonNullable<DedupeOptions['key']>>().toEqualTypeOf<
      'event-id' | 'idempotency-key' | ((delivery: Delivery) => string)
    >();
  });
});

describe('a receiver', () => {
  it('is a function from request to response, with begin beside it', () => {
    expectTypeOf(createReceiver).returns.toEqualTypeOf<Receiver>();
    expectTypeOf<Receiver>().parameters.toEqualTypeOf<[request: WebhookRequest]>();
    expectTypeOf<Receiver>().returns.toEqualTypeOf<Promise<WebhookResponse>>();
    expectTypeOf<Receiver['begin']>().parameters.toEqualTypeOf<[request: WebhookRequest]>();
    expectTypeOf<Receiver['begin']>().returns.resolves.toEqualTypeOf<{ response: WebhookResponse } | BegunDelivery>();
  });

  it('begin ends in a response or in a delivery to settle', async () => {
    const begun = await createReceiver({ secret }).begin({ method: 'POST', headers: [], body: null });
    if ('response' in begun) {
      expectTypeOf(begun.response.status).toBeNumber();
      return;
    }
    expectTypeOf(begun.delivery).toEqualTypeOf<Delivery>();
    expectTypeOf(begun.context).toEqualTypeOf<HandlerContext>();
    expectTypeOf(begun.settle).parameter(0).toEqualTypeOf<'ok' | 'failed' | 'unknown'>();
    // @ts-expect-error -- how it ended is one of three words
    begun.settle('done');
  });
});

describe('outcomes', () => {
  it('narrow by kind, and carry an error exactly where something was refused or failed', () => {
    createReceiver({
      secret,
      observe(outcome) {
        expectTypeOf(outcome).toEqualTypeOf<Outcome>();
        switch (outcome.kind) {
          case 'handled':
            expectTypeOf(outcome.delivery).toEqualTypeOf<Delivery>();
            expectTypeOf(outcome.error).toEqualTypeOf<undefined>();
            break;
          case 'rejected':
          case 'failed':
            expectTypeOf(outcome.error).toEqualTypeOf<WebhookError>();
            expectTypeOf(outcome.delivery).toEqualTypeOf<Delivery | undefined>();
            break;
          case 'in_progress':
            expectTypeOf(outcome.retryAfterMs).toBeNumber();
            break;
          case 'store_error':
            expectTypeOf(outcome.error).toBeUnknown();
            break;
        }
      },
    });
    expectTypeOf<Outcome['kind']>().toEqualTypeOf<
      | 'handled'
      | 'queued'
      | 'known'
      | 'ignored'
      | 'duplicate'
      | 'in_progress'
      | 'discarded'
      | 'rejected'
      | 'failed'
      | 'past_deadline'
      | 'late_result'
      | 'lease_lost'
      | 'idempotency_key_mismatch'
      | 'payload_mismatch'
      | 'unknown_version'
      | 'dead_letter'
      | 'silent'
      | 'store_error'
    >();
  });
});

describe('a store', () => {
  it('is the four calls, whatever else it has', () => {
    expectTypeOf(memoryStore).returns.toEqualTypeOf<DedupeStore>();
    type Needed = Pick<DedupeStore, 'scope' | 'claim' | 'extend' | 'complete' | 'release'>;
    expectTypeOf<Needed>().toExtend<DedupeStore>();
    expectTypeOf<Omit<Needed, 'release'>>().not.toExtend<DedupeStore>();
  });
});

describe('observeQueue', () => {
  it('takes a queue, and returns a function that ends it', () => {
    expectTypeOf(observeQueue).parameter(0).toEqualTypeOf<Pick<OperatedQueue, 'name' | 'stats'>>();
    expectTypeOf<OperatedQueue>().toExtend<Parameters<typeof observeQueue>[0]>();
    expectTypeOf(observeQueue).returns.toEqualTypeOf<() => void>();
  });
});
