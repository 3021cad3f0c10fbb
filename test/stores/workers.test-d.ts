import type * as Workers from '@cloudflare/workers-types';
import type { D1Client } from 'service-webhooks/stores/d1';
import type { DedupeObject, DurableObjectClient } from 'service-webhooks/stores/durable-object';
import { describe, expectTypeOf, it } from 'vitest';

describe('D1Client', () => {
  it('is the binding of a database', () => {
    expectTypeOf<{ d1: Workers.D1Database }>().toExtend<D1Client>();
  });

  it('is no session of it, and no database under another name', () => {
    expectTypeOf<{ d1: Workers.D1DatabaseSession }>().not.toExtend<D1Client>();
    expectTypeOf<{ DB: Workers.D1Database }>().not.toExtend<D1Client>();
    expectTypeOf<Workers.D1Database>().not.toExtend<D1Client>();
  });
});

describe('DurableObjectClient', () => {
  it('is the binding of a class, whether its type is known or not', () => {
    expectTypeOf<{ namespace: Workers.DurableObjectNamespace }>().toExtend<DurableObjectClient>();
    expectTypeOf<{
      namespace: Workers.DurableObjectNamespace<Workers.DurableObject & Workers.Rpc.DurableObjectBranded>;
    }>().toExtend<DurableObjectClient>();
    expectTypeOf<{
      namespace: ReturnType<Workers.DurableObjectNamespace['jurisdiction']>;
    }>().toExtend<DurableObjectClient>();
  });

  it('is no other binding', () => {
    expectTypeOf<{ namespace: Workers.D1Database }>().not.toExtend<DurableObjectClient>();
    expectTypeOf<{ namespace: Workers.KVNamespace }>().not.toExtend<DurableObjectClient>();
  });
});

describe('DedupeObject', () => {
  it('is a class that the platform makes objects from', () => {
    expectTypeOf<Workers.DurableObjectState>().toExtend<ConstructorParameters<typeof DedupeObject>[0]>();
    expectTypeOf<Workers.Request>().toExtend<Parameters<DedupeObject['fetch']>[0]>();
  });
});
