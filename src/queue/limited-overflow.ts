import { WebhookError } from '../errors.js';
import { check } from '../option-checks.js';
import { hasMethods } from '../stores/named-client.js';
import { sleep, withTimeout } from '../timers.js';

/**
 * Where the bodies of large jobs are kept, such as R2, S3 or a table. It must keep what it is given until `delete`. Ids are 64
 * hex digits. Each call is limited to 30 s, and an error that it throws makes the delivery, or the job, one that is retried.
 */
export interface Overflow {
  /** Stores a body. The same id may be put again, with the same body. */
  put(id: string, body: Uint8Array): Promise<unknown>;
  /** Resolves to the body, and to null or undefined where there is none. */
  get(id: string): Promise<Uint8Array | ArrayBuffer | null | undefined>;
  /** Removes a body. Succeeds where there is none. */
  delete(id: string): Promise<unknown>;
}

const LIMIT_MS = 30_000;
/** The waits before a removal is tried again. */
const RETRY_MS = [100, 1_000];

/** The calls of an overflow, each with a limit of time and with errors that say what failed. */
export interface LimitedOverflow {
  put(id: string, body: Uint8Array): Promise<void>;
  /** Resolves to undefined where there is no body. @throws WebhookError `body_unavailable` */
  get(id: string): Promise<Uint8Array | undefined>;
  /** Tries three times. @throws WebhookError `body_unavailable` */
  delete(id: string): Promise<void>;
}

/** @throws WebhookError `invalid_option` */
export function limitedOverflow(overflow: Overflow): LimitedOverflow {
  const isOverflow = hasMethods(overflow, ['put', 'get', 'delete']);
  check(isOverflow, 'overflow must have the methods put(), get() and delete()');

  async function asked<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(LIMIT_MS, call);
    } catch (cause) {
      const message = `Your overflow could not ${what} the body of a job.`;
      throw new WebhookError('body_unavailable', { message, hint: 'Fix error.cause: the job is retried.', cause });
    }
  }

  return {
    async put(id, body) {
      await asked('store', () => overflow.put(id, body));
    },

    async get(id) {
      const body = await asked('return', () => overflow.get(id));
      if (body === null || body === undefined) return undefined;
      if (body instanceof Uint8Array) return body;
      if (body instanceof ArrayBuffer) return new Uint8Array(body);
      const message = 'Your overflow returned something else than bytes.';
      throw new WebhookError('body_unavailable', { message, hint: 'overflow.get() must resolve to a Uint8Array.' });
    },

    async delete(id) {
      for (const pauseMs of [...RETRY_MS, undefined]) {
        try {
          await asked('delete', () => overflow.delete(id));
          return;
        } catch (error) {
          if (pauseMs === undefined) throw error;
          await sleep(pauseMs);
        }
      }
    },
  };
}
