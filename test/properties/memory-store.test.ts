import fc from 'fast-check';
import { type ClaimRequest, type DedupeStore, type Mutation, memoryStore } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { often } from './arbitraries.js';
import { holds, options } from './holds.js';

describe('the memory store', () => {
  type Step =
    | { do: 'claim' | 'complete' | 'release' | 'extend'; token: string; key: string }
    | { do: 'wait'; ms: number }
    | { do: 'forget'; key: string };

  const LEASE = 1_000;
  const RETAIN = 5_000;

  const keys = fc.constantFrom('k:1', 'k:2');
  const steps = (): fc.Arbitrary<Step[]> => {
    const calls = fc.constantFrom(...(['claim', 'claim', 'complete', 'release', 'extend'] as const));
    const waits = fc.constantFrom(1, 999, 1_000, 4_999, 5_000);
    const step = fc.oneof(
      often(fc.record({ do: calls, token: fc.constantFrom('A', 'B', 'C'), key: keys })),
      often(fc.record({ do: fc.constant('wait' as const), ms: waits }), 2),
      fc.record({ do: fc.constant('forget' as const), key: keys }),
    );
    return fc.array(step, { maxLength: 40 });
  };

  /** The rules of the contract, as plainly as they can be written. */
  function aModel(clock: () => number) {
    type State = 'in_progress' | 'completed' | 'released';
    type Row = { state: State; owner: string } & Record<'fence' | 'attempt' | 'lease' | 'expires', number>;
    const rows = new Map<string, Row>();
    let highest = 0;
    const live = (key: string) => {
      const row = rows.get(key);
      return row !== undefined && row.expires > clock() ? row : undefined;
    };
    const owned = (key: string, token: string) => {
      const row = live(key);
      return row?.state === 'in_progress' && row.owner === token ? row : undefined;
    };
    return {
      /** A new owner takes the fence that the store chose, which has to be higher than every earlier one. */
      claim(key: string, token: string, chosen: number): unknown {
        const row = live(key);
        if (row?.state === 'completed') return { status: 'completed', fence: row.fence };
        if (row?.state === 'in_progress' && row.owner !== token && row.lease > clock()) {
          return { status: 'in_progress', fence: row.fence, retryAfterMs: row.lease - clock() };
        }
        const same = row?.state === 'in_progress' && row.owner === token;
        if (!same) expect(chosen).toBeGreaterThan(highest);
        highest = Math.max(highest, chosen);
        const fence = same ? row.fence : chosen;
        const attempt = (row?.attempt ?? 0) + (same ? 0 : 1);
        const [lease, expires] = [clock() + LEASE, clock() + RETAIN];
        rows.set(key, { state: 'in_progress', owner: token, fence, attempt, lease, expires });
        return { status: 'acquired', fence, attempt };
      },
      complete(key: string, token: string): Mutation {
        const row = live(key);
        if (row !== undefined && (row.owner !== token || row.state === 'released')) return 'lost';
        const { fence, attempt } = row ?? { fence: Math.max(1, rows.get(key)?.fence ?? 0), attempt: 1 };
        rows.set(key, { state: 'completed', owner: token, fence, attempt, lease: 0, expires: clock() + RETAIN });
        return 'ok';
      },
      release(key: string, token: string): Mutation {
        const row = live(key);
        if (row === undefined || row.state === 'released') return 'ok';
        const mine = owned(key, token);
        if (mine === undefined) return 'lost';
        rows.set(key, { ...mine, state: 'released', owner: '' });
        return 'ok';
      },
      extend(key: string, token: string): Mutation {
        const mine = owned(key, token);
        if (mine === undefined) return 'lost';
        mine.lease = clock() + LEASE;
        mine.expires = Math.max(mine.expires, mine.lease);
        return 'ok';
      },
      forget: (key: string) => void rows.delete(key),
    };
  }

  async function applyTo(store: DedupeStore, step: Exclude<Step, { do: 'wait' }>): Promise<unknown> {
    if (step.do === 'forget') return store.forget?.(step.key);
    const { key, token } = step;
    const request: ClaimRequest = { key, token, fingerprint: 'f', leaseMs: LEASE, retainMs: RETAIN };
    const ref = { ...request, fence: 1 };
    if (step.do === 'complete') return store.complete(ref, { retainMs: RETAIN });
    if (step.do === 'release') return store.release(ref);
    if (step.do === 'extend') return store.extend(ref, { leaseMs: LEASE });
    const { seen: _, ...result } = await store.claim(request);
    return result;
  }

  it('every order of calls gives what the contract says', options, () =>
    holds([steps()], async (list) => {
      let time = 0;
      const store = memoryStore({ now: () => time });
      const model = aModel(() => time);
      for (const step of list) {
        if (step.do === 'wait') time += step.ms;
        else if (step.do === 'forget') expect(await applyTo(store, step)).toBe(model.forget(step.key));
        else {
          const result = await applyTo(store, step);
          const { fence = 0 } = result as { fence?: number };
          expect(result).toEqual(model[step.do](step.key, step.token, fence));
        }
      }
    }),
  );
});
