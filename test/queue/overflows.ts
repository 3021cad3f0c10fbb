import { expect, vi } from 'vitest';
import type { Overflow } from '../../src/queue/limited-overflow.js';
import { PATIENTLY } from '../support/patiently.js';

/** An overflow in memory, of which one method may fail. */
export interface TestOverflow extends Overflow {
  bodies: Map<string, Uint8Array>;
  fails: keyof Overflow | undefined;
  /** Waits until no body is left. */
  isEmpty(): Promise<void>;
}

export function anOverflow(): TestOverflow {
  const bodies = new Map<string, Uint8Array>();
  const call = (name: keyof Overflow) => {
    if (overflow.fails === name) throw new Error(`no ${name}`);
  };
  const overflow: TestOverflow = {
    bodies,
    fails: undefined,
    isEmpty: () => vi.waitFor(() => expect(bodies.size).toBe(0), PATIENTLY),
    async put(id, body) {
      call('put');
      bodies.set(id, body.slice());
    },
    async get(id) {
      call('get');
      return bodies.get(id);
    },
    async delete(id) {
      call('delete');
      bodies.delete(id);
    },
  };
  return overflow;
}

/** A new key for `encrypt`, in base64. */
export function aKey(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
}
