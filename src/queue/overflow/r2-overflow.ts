import { check } from '../../option-checks.js';
import { checkClient } from '../engine-queue.js';
import type { Overflow } from '../limited-overflow.js';

/** The part that is used of a bucket binding of Cloudflare R2. */
export interface R2Bucket {
  put(key: string, value: Uint8Array): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(key: string): Promise<unknown>;
}

/**
 * Keeps the bodies of large jobs in a bucket of Cloudflare R2. Where the bucket has a rule that deletes old objects, its time
 * must be longer than a job can wait or be a dead letter.
 *
 * @param bucket The binding of the bucket: `env.BUCKET`
 * @param options `prefix`: the beginning of the names of its objects. Default: `'webhooks/'`.
 * @throws WebhookError `invalid_option`
 * @example
 * cloudflareQueue({ queue: env.QUEUE, name: 'clips', overflow: r2Overflow(env.BUCKET) });
 */
export function r2Overflow(bucket: R2Bucket, { prefix = 'webhooks/' }: { prefix?: string | undefined } = {}): Overflow {
  checkClient('the bucket must be a binding of Cloudflare R2', bucket, ['put', 'get', 'delete']);
  check(typeof prefix === 'string', 'prefix must be a text');
  return {
    put: (id, body) => bucket.put(prefix + id, body),
    get: async (id) => (await bucket.get(prefix + id))?.arrayBuffer(),
    delete: (id) => bucket.delete(prefix + id),
  };
}
