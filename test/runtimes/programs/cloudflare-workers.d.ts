/** What Workers have in it, as far as the programs here go. */
declare module 'cloudflare:workers' {
  import type { CloudflareQueueBinding } from 'service-webhooks/queue/cloudflare';
  import type { R2Bucket } from 'service-webhooks/queue/overflow';
  import type { D1Database } from 'service-webhooks/stores/d1';
  import type { DurableObjectNamespace } from 'service-webhooks/stores/durable-object';

  export function waitUntil(work: Promise<unknown>): void;
  export const env: {
    WEBHOOK_SECRET: string;
    QUEUE: CloudflareQueueBinding;
    DEAD: CloudflareQueueBinding;
    BUCKET: R2Bucket & { list(): Promise<{ objects: { key: string }[] }> };
    DB: D1Database;
    DB2: D1Database;
    DEDUPE: DurableObjectNamespace;
    SQLITE_OBJECTS: DurableObjectNamespace;
    KV_OBJECTS: DurableObjectNamespace;
    DEAD_OBJECTS: DurableObjectNamespace;
    RECEIVERS: { fetch(request: Request): Promise<Response> };
  };
}
