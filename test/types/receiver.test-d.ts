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
  type HandlerContextOf,
  type HandlerOf,
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
  it('the event and its context have the type of the key', () => {
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
          expectTypeOf(context.endpoint).toEqualTypeOf<string | undefined>();
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

  it('a misspelt event type is an error', () => {
    // @ts-expect-error -- no such event
    createReceiver({ secret, on: { 'generation.complete': () => {} } });
  });

  it('any return value is allowed', () => {
    expectTypeOf<() => void>().toExtend<Handler>();
    expectTypeOf<() => Promise<void>>().toExtend<Handler>();
    expectTypeOf<() => { status: number }>().toExtend<Handler>();
    expectTypeOf<() => Promise<{ status: number }>>().toExtend<Handler>();
    expectTypeOf<() => Promise<string[]>>().toExtend<Handler>();
  });

  it("'*' and a middleware's route narrow the event by its type", () => {
    createReceiver({
      secret,
      on: { '*': (event) => event.type === 'generation.completed' && expectTypeOf(event.data.clipId).toBeString() },
    });
    const { event } = {} as Delivery;
    if (event.type === 'generation.completed') expectTypeOf(event.data.clipId).toBeString();
  });

  it('a handler in a file of its own has the type of its event by name', () => {
    const onClip: HandlerOf<'generation.completed'> = (event, context) => {
      expectTypeOf(event).toEqualTypeOf<EventOf<'generation.completed'>>();
      expectTypeOf(context).toEqualTypeOf<HandlerContextOf<'generation.completed'>>();
    };
    const onFailure: HandlerOf<'stt.failed' | 'export.failed'> = (event) =>
      expectTypeOf(event.type).toEqualTypeOf<'stt.failed' | 'export.failed'>();
    async function onText(_event: EventOf<'stt.completed'>, _context: HandlerContext) {}
    createReceiver({
      secret,
      on: { 'generation.completed': onClip, 'stt.failed': onFailure, 'stt.completed': onText },
    });
    expectTypeOf<HandlerOf<'stt.failed'>>().toEqualTypeOf<Handler<EventOf<'stt.failed'>>>();
    expectTypeOf<HandlerContextOf<'stt.failed'>>().toEqualTypeOf<HandlerContext<EventOf<'stt.failed'>>>();
    // @ts-expect-error -- a handler of another event
    createReceiver({ secret, on: { 'generation.failed': onClip } });
    // @ts-expect-error -- no such event
    type _Misspelt = HandlerOf<'generation.complete'>;
  });

  it('Handler is assignable to the handler of one type, not the reverse', () => {
    expectTypeOf<Handler>().toExtend<Handler<EventOf<'stt.failed'>>>();
    expectTypeOf<Handler<EventOf<'stt.failed'>>>().not.toExtend<Handler>();
  });
});

describe('createReceiver options', () => {
  it('everything but the secret may be undefined', () => {
    createReceiver({
      secret,
      on: { '*': undefined, 'stt.failed': undefined },
      dedupe: undefined,
      maxBodyBytes: undefined,
      deadlineMs: undefined,
      observe: undefined,
      waitUntil: undefined,
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

  it('the secret is one, several, by tenant, or a function', () => {
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

  it('dedupe is false or an object', () => {
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
  it('a call and begin() take the same request', () => {
    expectTypeOf(createReceiver).returns.toEqualTypeOf<Receiver>();
    expectTypeOf<Receiver>().parameters.toEqualTypeOf<[request: WebhookRequest]>();
    expectTypeOf<Receiver>().returns.toEqualTypeOf<Promise<WebhookResponse>>();
    expectTypeOf<Receiver['begin']>().parameters.toEqualTypeOf<[request: WebhookRequest]>();
    expectTypeOf<Receiver['begin']>().returns.resolves.toEqualTypeOf<{ response: WebhookResponse } | BegunDelivery>();
  });

  it('begin() returns a response or a delivery to settle', async () => {
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

describe('waitUntil', () => {
  it('the functions of the platforms are assignable, and an observer may return a promise', () => {
    const contexts = new Map<string, { waitUntil(work: Promise<unknown>): void }>();
    createReceiver({ secret, waitUntil: (work: Promise<unknown>): void => void work });
    createReceiver({ secret, waitUntil: <T>(task: Promise<T> | (() => T)): void => void task });
    createReceiver({ secret, waitUntil: async (work) => void (await work), observe: async () => {} });
    createReceiver({ secret, waitUntil: (work) => contexts.get('now')?.waitUntil(work) });
    // @ts-expect-error -- the context itself is no function
    createReceiver({ secret, waitUntil: contexts.get('now') });
  });
});

describe('an outcome', () => {
  it('the kind decides about delivery and error', () => {
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
      | 'overdue'
      | 'silent'
      | 'store_error'
    >();
  });
});

describe('DedupeStore', () => {
  it('claim, extend, complete and release are required', () => {
    expectTypeOf(memoryStore).returns.toEqualTypeOf<DedupeStore>();
    type Needed = Pick<DedupeStore, 'scope' | 'claim' | 'extend' | 'complete' | 'release'>;
    expectTypeOf<Needed>().toExtend<DedupeStore>();
    expectTypeOf<Omit<Needed, 'release'>>().not.toExtend<DedupeStore>();
  });
});

describe('observeQueue', () => {
  it('a queue is the argument, and a function to end it the result', () => {
    expectTypeOf(observeQueue).parameter(0).toEqualTypeOf<Pick<OperatedQueue, 'name' | 'stats'>>();
    expectTypeOf<OperatedQueue>().toExtend<Parameters<typeof observeQueue>[0]>();
    expectTypeOf(observeQueue).returns.toEqualTypeOf<() => void>();
  });
});
