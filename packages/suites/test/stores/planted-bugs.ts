import { setImmediate } from 'node:timers/promises';
import type { ClaimRef, ClaimRequest, ClaimResult, DedupeStore } from 'service-webhooks';

/** Makes a right store wrong in one way. */
export type Plant = (store: Required<Omit<DedupeStore, 'init' | 'close'>>, now: () => number) => Partial<DedupeStore>;

/** Bugs of real stores, one each, with the case or cases of the suite that must catch it. */
export const PLANTED_BUGS: Readonly<Record<string, { plant: Plant; caughtBy: string | readonly string[] }>> = {
  'does not look whose row it completes and releases': {
    plant(store) {
      const owners = ownersOf(store);
      return {
        claim: owners.claim,
        complete: (ref, options) => store.complete(owners.pretend(ref), options),
        release: (ref) => store.release(owners.pretend(ref)),
      };
    },
    caughtBy: 'a stale owner is answered lost after a takeover, and the new owner keeps the key',
  },
  'compares fences instead of tokens': {
    plant(store) {
      const owners = ownersOf(store);
      const pretend = (ref: ClaimRef) => (owners.fenceOf(ref.key) === ref.fence ? owners.pretend(ref) : ref);
      return {
        claim: owners.claim,
        complete: (ref, options) => store.complete(pretend(ref), options),
        release: (ref) => store.release(pretend(ref)),
        extend: (ref, options) => store.extend(pretend(ref), options),
      };
    },
    caughtBy: 'a token that does not own the row is answered lost, and nothing is written',
  },
  'deletes what is released': {
    plant: (store) => ({
      async release(ref) {
        const answer = await store.release(ref);
        if (answer === 'ok') await store.forget(ref.key);
        return answer;
      },
    }),
    caughtBy: 'the next claim acquires a released key with a higher fence and attempt 2',
  },
  'lets the row end with its lease': {
    plant: (store) => ({ claim: (request) => store.claim({ ...request, retainMs: request.leaseMs }) }),
    caughtBy: 'a row keeps its fence, its attempts and what was seen first when the lease is over',
  },
  'holds an expired row until somebody purges it': {
    plant(store, now) {
      const ends = new Map<string, number>();
      return {
        async claim(request) {
          if ((ends.get(request.key) ?? Number.POSITIVE_INFINITY) <= now()) return held(request);
          const result = await store.claim(request);
          if (result.status === 'acquired') ends.set(request.key, now() + request.retainMs);
          return result;
        },
      };
    },
    caughtBy: 'exactly one of 32 simultaneous claims acquires an expired row in any state',
  },
  'locks an owner out that sends its claim again': {
    plant(store) {
      const claimed = new Set<string>();
      return {
        async claim(request) {
          if (claimed.has(request.token)) return held(request);
          const result = await store.claim(request);
          if (result.status === 'acquired') claimed.add(request.token);
          return result;
        },
      };
    },
    caughtBy: 'the same token gets its claim again, with a renewed lease',
  },
  'gives the same token a new fence': {
    plant: (store) => ({
      async claim(request) {
        await store.release({ ...request, fence: 0 });
        return store.claim(request);
      },
    }),
    caughtBy: 'the same token gets its claim again, with a renewed lease',
  },
  'refuses to complete after the lease': {
    plant: (store) => ({
      async complete(ref, options) {
        const row = await store.inspect(ref.key);
        return (row?.leaseMsLeft ?? 1) <= 0 ? 'lost' : store.complete(ref, options);
      },
    }),
    caughtBy: 'an owner completes after its lease when no other token has taken the key',
  },
  'refuses to release after the lease': {
    plant: (store) => ({
      async release(ref) {
        const row = await store.inspect(ref.key);
        return (row?.leaseMsLeft ?? 1) <= 0 ? 'lost' : store.release(ref);
      },
    }),
    caughtBy: 'an owner releases after its lease when no other token has taken the key',
  },
  'refuses to release a row that has expired under another owner': {
    plant(store) {
      const owners = ownersOf(store);
      return {
        claim: owners.claim,
        release: async (ref) => (owners.pretend(ref).token === ref.token ? store.release(ref) : 'lost'),
      };
    },
    caughtBy: 'an expired row is absent for complete, release and extend',
  },
  'extends for whoever asks, and says that it is lost': {
    plant(store) {
      const owners = ownersOf(store);
      return {
        claim: owners.claim,
        async extend(ref, options) {
          await store.extend(owners.pretend(ref), options);
          return owners.pretend(ref).token === ref.token ? 'ok' : 'lost';
        },
      };
    },
    caughtBy: [
      'a stale owner is answered lost after a takeover, and the new owner keeps the key',
      'a token that does not own the row is answered lost, and nothing is written',
    ],
  },
  'drops the complete of a row that is gone': {
    plant: (store) => ({
      complete: async (ref, options) =>
        (await store.inspect(ref.key)) === undefined ? 'lost' : store.complete(ref, options),
    }),
    caughtBy: 'a row that was lost before complete is created again as completed',
  },
  'holds a key for ever': {
    plant(store) {
      const claimed = new Set<string>();
      return {
        async claim(request) {
          if (claimed.has(request.key)) return { ...held(request), retryAfterMs: 1 };
          claimed.add(request.key);
          return store.claim(request);
        },
      };
    },
    caughtBy: 'a silent owner keeps its key until the lease is over, and no longer',
  },
  'does not renew the lease of who claims again': {
    plant(store) {
      const claimed = new Map<string, Promise<ClaimResult>>();
      return {
        async claim(request) {
          const answer = claimed.get(request.token) ?? store.claim(request);
          claimed.set(request.token, answer);
          return answer;
        },
      };
    },
    caughtBy: 'the same token gets its claim again, with a renewed lease',
  },
  'lets every claim take over': {
    plant: (store) => ({
      async claim(request) {
        const result = await store.claim(request);
        if (result.status !== 'in_progress') return result;
        await store.forget(request.key);
        return store.claim(request);
      },
    }),
    caughtBy: 'an answer to another token says that the key is in progress, and for how long at most',
  },
  'does not let the fence grow': {
    plant: (store) => ({
      async claim(request) {
        return { ...(await store.claim(request)), fence: 1 };
      },
    }),
    caughtBy: [
      'a silent owner keeps its key until the lease is over, and no longer',
      'the fence of a key grows with each of ten owners',
    ],
  },
  'counts owners for a fence': {
    plant(store) {
      const attempts = new Map<string, number>();
      return {
        async claim(request) {
          const result = await store.claim(request);
          if (result.status === 'acquired') attempts.set(request.key, result.attempt);
          return { ...result, fence: attempts.get(request.key) ?? 1 };
        },
      };
    },
    caughtBy: [
      'the fence of a forgotten key grows',
      'the fence of a key whose retention is over grows',
      'the fence of a purged key grows',
      'the fence of a key whose row was lost grows',
    ],
  },
  'begins its fences again after a purge': {
    plant(store) {
      let purged = false;
      return {
        async claim(request) {
          const result = await store.claim(request);
          return purged ? { ...result, fence: 1 } : result;
        },
        purgeExpired(options) {
          purged = true;
          return store.purgeExpired(options);
        },
      };
    },
    caughtBy: 'the fence of a purged key grows',
  },
  'has fences that no number can hold exactly': {
    plant: (store) => ({
      async claim(request) {
        const result = await store.claim(request);
        return { ...result, fence: Number.MAX_SAFE_INTEGER + result.fence * 2 };
      },
    }),
    caughtBy: ['the first claim acquires a new key with attempt 1', 'the fence of a forgotten key grows'],
  },
  'does not count attempts': {
    plant: (store) => ({
      async claim(request) {
        const result = await store.claim(request);
        return result.status === 'acquired' ? { ...result, attempt: 1 } : result;
      },
    }),
    caughtBy: 'the next claim acquires a released key with a higher fence and attempt 2',
  },
  'returns what came last instead of first': {
    plant: (store) => ({
      async claim(request) {
        const { fingerprint, alias } = request;
        return { ...(await store.claim(request)), seen: { fingerprint, alias } };
      },
    }),
    caughtBy: [
      'all three results have the fingerprint and the alias that came first',
      'a row keeps its fence, its attempts and what was seen first when the lease is over',
      'a row that was lost before complete is created again as completed',
    ],
  },
  'leaves out what was seen first': {
    plant: (store) => ({
      async claim(request) {
        const { seen: _, ...answer } = await store.claim(request);
        return answer as ClaimResult;
      },
    }),
    caughtBy: [
      'a row keeps its fence, its attempts and what was seen first when the lease is over',
      'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are',
    ],
  },
  'takes keys for the same that differ in case': {
    plant: (store) => ({ claim: (request) => store.claim({ ...request, key: request.key.toLowerCase() }) }),
    caughtBy: 'keys that differ in case, in one byte, in a suffix or in special characters are different keys',
  },
  'cuts long keys': {
    plant: (store) => ({ claim: (request) => store.claim({ ...request, key: request.key.slice(0, 199) }) }),
    caughtBy: 'keys that differ in case, in one byte, in a suffix or in special characters are different keys',
  },
  'drops a row whose key another one begins with': {
    plant: (store) => ({
      async claim(request) {
        await store.forget(request.key.slice(0, -1));
        return store.claim(request);
      },
    }),
    caughtBy: 'keys that differ in case, in one byte, in a suffix or in special characters are different keys',
  },
  'does not look at the endpoint in a key': {
    plant: (store) => ({
      claim: (request) => store.claim({ ...request, key: withoutEndpoint(request.key) }),
      complete: (ref, options) => store.complete({ ...ref, key: withoutEndpoint(ref.key) }, options),
    }),
    caughtBy: 'one event at two endpoints is two keys',
  },
  'takes tokens for the same that differ in case': {
    plant: (store) => ({ claim: (request) => store.claim({ ...request, token: request.token.toLowerCase() }) }),
    caughtBy: 'tokens are compared byte for byte',
  },
  'takes texts for numbers': {
    plant: (store) => ({
      async claim(request) {
        const result = await store.claim(request);
        const fingerprint = String(Number(result.seen?.fingerprint) || result.seen?.fingerprint);
        return { ...result, seen: { ...result.seen, fingerprint } };
      },
    }),
    caughtBy: 'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are',
  },
  'takes any duration': {
    plant: (store) => ({
      claim: (request) => store.claim({ ...request, leaseMs: tame(request.leaseMs), retainMs: tame(request.retainMs) }),
    }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'rounds the lease of a claim': {
    plant: (store) => ({ claim: (request) => store.claim({ ...request, leaseMs: Math.ceil(request.leaseMs) }) }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'rounds the retention of a claim': {
    plant: (store) => ({ claim: (request) => store.claim({ ...request, retainMs: Math.ceil(request.retainMs) }) }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'rounds the lease of an extend': {
    plant: (store) => ({ extend: (ref, { leaseMs }) => store.extend(ref, { leaseMs: Math.ceil(leaseMs) }) }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'rounds the retention of a complete': {
    plant: (store) => ({ complete: (ref, { retainMs }) => store.complete(ref, { retainMs: Math.ceil(retainMs) }) }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'counts seconds': {
    plant: (store) => ({
      async claim(request) {
        const leaseMs = Math.ceil(request.leaseMs / 1000) * 1000;
        return store.claim({ ...request, leaseMs });
      },
    }),
    caughtBy: 'a store counts leases and retention in milliseconds',
  },
  'answers retryAfterMs in seconds': {
    plant: (store) => ({
      async claim(request) {
        const result = await store.claim(request);
        return result.status === 'in_progress' ? { ...result, retryAfterMs: result.retryAfterMs / 1000 } : result;
      },
    }),
    caughtBy: 'an answer to another token says that the key is in progress, and for how long at most',
  },
  'answers ok to every extend': {
    plant: () => ({ extend: async () => 'ok' }),
    caughtBy: 'either the late extend or the takeover wins, never both',
  },
  'shortens a completed row by a claim': {
    plant: (store) => {
      const refs = new Map<string, ClaimRef>();
      return {
        async claim(request) {
          const result = await store.claim(request);
          const ref = refs.get(request.key);
          if (result.status === 'acquired') refs.set(request.key, { ...request, fence: result.fence });
          if (result.status === 'completed' && ref) await store.complete(ref, request);
          return result;
        },
      };
    },
    caughtBy: 'a claim does not shorten the retention of a completed row',
  },
  'counts the retention from the claim': {
    plant(store) {
      const retained = new Map<string, number>();
      return {
        claim(request) {
          retained.set(request.key, request.retainMs);
          return store.claim(request);
        },
        complete: (ref, options) => store.complete(ref, { retainMs: retained.get(ref.key) ?? options.retainMs }),
      };
    },
    caughtBy: 'a completed key is kept for the retention that complete asked for',
  },
  'counts the life of a row from its first claim': {
    plant(store, now) {
      const ends = new Map<string, number>();
      return {
        async claim(request) {
          const end = ends.get(request.key) ?? now() + request.retainMs;
          ends.set(request.key, end);
          if (end <= now()) await store.forget(request.key);
          return store.claim(request);
        },
      };
    },
    caughtBy: [
      'a row is kept for as long as the lease that extend gave it',
      'each claim that acquires a row renews its retention',
    ],
  },
  'holds an expired row that was released': {
    plant(store, now) {
      const ends = new Map<string, number>();
      const released = new Set<string>();
      return {
        async claim(request) {
          if (released.has(request.key) && (ends.get(request.key) ?? 0) <= now()) return held(request);
          ends.set(request.key, now() + request.retainMs);
          return store.claim(request);
        },
        release(ref) {
          released.add(ref.key);
          return store.release(ref);
        },
      };
    },
    caughtBy: 'exactly one of 32 simultaneous claims acquires an expired row in any state',
  },
  'purges more than the limit': {
    plant: (store) => ({ purgeExpired: () => store.purgeExpired({ limit: Number.MAX_SAFE_INTEGER }) }),
    caughtBy: 'a purge removes expired rows, no more than the limit, and nothing else',
  },
  'purges what is silent or released': {
    plant(store) {
      const keys = new Set<string>();
      return {
        claim(request) {
          keys.add(request.key);
          return store.claim(request);
        },
        async purgeExpired(options) {
          for (const key of keys) {
            const row = await store.inspect(key);
            if (row?.state === 'released' || (row?.leaseMsLeft ?? 1) <= 0) await store.forget(key);
          }
          return store.purgeExpired(options);
        },
      };
    },
    caughtBy: 'a purge removes expired rows, no more than the limit, and nothing else',
  },
  'completes in two steps': {
    plant: (store) => ({
      async complete(ref, options) {
        const row = await store.inspect(ref.key);
        await setImmediate();
        if (row?.state === 'in_progress') await store.forget(ref.key);
        return store.complete(ref, options);
      },
    }),
    caughtBy: 'either the late complete or the takeover wins, never both',
  },
  'returns the reports of receivers that are gone': {
    plant() {
      const reports = new Map<string, string>();
      return {
        async saveReport({ name, instance, text }) {
          reports.set(`${name}:${instance}`, text);
        },
        async loadReports(name) {
          return [...reports].filter(([key]) => key.startsWith(`${name}:`)).map(([, text]) => text);
        },
      };
    },
    caughtBy: [
      'a report is gone when its time is over, and a new one of its receiver is there again',
      'of more than 1,000 receivers of an endpoint, the newest 1,000 reports are returned',
    ],
  },
  'keeps the first reports instead of the newest': {
    plant(store) {
      const instances = new Set<string>();
      return {
        async saveReport(report) {
          if (instances.size < 1_000) instances.add(report.instance);
          if (instances.has(report.instance)) await store.saveReport(report);
        },
      };
    },
    caughtBy: 'of more than 1,000 receivers of an endpoint, the newest 1,000 reports are returned',
  },
};

function held({ fingerprint, alias, leaseMs }: ClaimRequest) {
  return { status: 'in_progress', fence: 1, retryAfterMs: leaseMs, seen: { fingerprint, alias } } as const;
}

function withoutEndpoint(key: string): string {
  return key.replace(/^(orders|billing):/, '');
}

function tame(ms: number): number {
  return Math.max(1, Math.trunc(ms) || 1);
}

/** Knows the owner of every key, to act in its name. */
function ownersOf(store: Pick<DedupeStore, 'claim'>) {
  const owners = new Map<string, { token: string; fence: number }>();
  return {
    async claim(request: ClaimRequest) {
      const result = await store.claim(request);
      if (result.status === 'acquired') owners.set(request.key, { token: request.token, fence: result.fence });
      return result;
    },
    pretend: (ref: ClaimRef): ClaimRef => ({ ...ref, token: owners.get(ref.key)?.token ?? ref.token }),
    fenceOf: (key: string) => owners.get(key)?.fence,
  };
}
