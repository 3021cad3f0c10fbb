import { setImmediate } from 'node:timers/promises';
import type { ClaimRef, ClaimRequest, ClaimResult, DedupeRecord, DedupeStore } from 'service-webhooks';
import { PLANTED_JOB_BUGS } from './planted-job-bugs.js';

/** Makes a right store wrong in one way. */
export type Plant = (store: Store, now: () => number) => Partial<DedupeStore>;

type Store = Required<Omit<DedupeStore, 'init' | 'close'>>;
type Answer<Status extends ClaimResult['status']> = Extract<ClaimResult, { status: Status }>;
type Seen = NonNullable<ClaimResult['seen']>;

/** Changes what a claim asks for. */
const asks = (change: (request: ClaimRequest) => Partial<ClaimRequest>): Plant => {
  return (store) => ({ claim: (request) => store.claim({ ...request, ...change(request) }) });
};

/** Changes what a claim is answered. */
const answers = (change: (answer: ClaimResult, request: ClaimRequest) => object): Plant => {
  return (store) => ({ claim: async (request) => change(await store.claim(request), request) as ClaimResult });
};

const acquires = (change: (answer: Answer<'acquired'>) => object) =>
  answers((answer) => (answer.status === 'acquired' ? change(answer) : answer));

const refuses = (change: (answer: Answer<'in_progress'>) => object) =>
  answers((answer) => (answer.status === 'in_progress' ? change(answer) : answer));

const withSeen = (change: (seen: Seen) => Seen) =>
  answers((answer) => ({ ...answer, seen: change(answer.seen as Seen) }));

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
    plant: asks(({ leaseMs }) => ({ retainMs: leaseMs })),
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
      complete: (ref, options) => lostIf(isLate, store, ref, () => store.complete(ref, options)),
    }),
    caughtBy: 'an owner completes after its lease when no other token has taken the key',
  },
  'refuses to release after the lease': {
    plant: (store) => ({ release: (ref) => lostIf(isLate, store, ref, () => store.release(ref)) }),
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
      complete: (ref, options) =>
        lostIf(
          (row) => !row,
          store,
          ref,
          () => store.complete(ref, options),
        ),
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
    plant: answers((answer) => ({ ...answer, fence: 1 })),
    caughtBy: [
      'a silent owner keeps its key until the lease is over, and no longer',
      'the fence of a key grows with each of ten owners',
    ],
  },
  'counts owners for a fence': {
    plant(store, now) {
      const attempts = new Map<string, number>();
      return answers((answer, { key }) => {
        if (answer.status === 'acquired') attempts.set(key, answer.attempt);
        return { ...answer, fence: attempts.get(key) ?? 1 };
      })(store, now);
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
    plant: answers((answer) => ({ ...answer, fence: Number.MAX_SAFE_INTEGER + answer.fence * 2 })),
    caughtBy: ['the first claim acquires a new key with attempt 1', 'the fence of a forgotten key grows'],
  },
  'does not count attempts': {
    plant: acquires((answer) => ({ ...answer, attempt: 1 })),
    caughtBy: 'the next claim acquires a released key with a higher fence and attempt 2',
  },
  'returns what came last instead of first': {
    plant: answers((answer, { fingerprint, alias }) => ({ ...answer, seen: { fingerprint, alias } })),
    caughtBy: [
      'all three results have the fingerprint and the alias that came first',
      'a row keeps its fence, its attempts and what was seen first when the lease is over',
      'a row that was lost before complete is created again as completed',
    ],
  },
  'leaves out what was seen first': {
    plant: answers(({ seen: _, ...answer }) => answer),
    caughtBy: [
      'a row keeps its fence, its attempts and what was seen first when the lease is over',
      'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are',
    ],
  },
  'takes keys for the same that differ in case': {
    plant: asks(({ key }) => ({ key: key.toLowerCase() })),
    caughtBy: 'keys that differ in case, in one byte, in a suffix or in special characters are different keys',
  },
  'cuts long keys': {
    plant: asks(({ key }) => ({ key: key.slice(0, 199) })),
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
    plant: asks(({ token }) => ({ token: token.toLowerCase() })),
    caughtBy: 'tokens are compared byte for byte',
  },
  'takes texts for numbers': {
    plant: withSeen((seen) => ({ ...seen, fingerprint: String(Number(seen.fingerprint) || seen.fingerprint) })),
    caughtBy: 'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are',
  },
  'takes any duration': {
    plant: asks(({ leaseMs, retainMs }) => ({ leaseMs: tame(leaseMs), retainMs: tame(retainMs) })),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'counts seconds': {
    plant: asks(({ leaseMs }) => ({ leaseMs: Math.ceil(leaseMs / 1000) * 1000 })),
    caughtBy: 'a store counts leases and retention in milliseconds',
  },
  'answers retryAfterMs in seconds': {
    plant: refuses((answer) => ({ ...answer, retryAfterMs: answer.retryAfterMs / 1000 })),
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
  'denies every new key': {
    plant: () => ({ claim: async (request) => held(request) }),
    caughtBy: [
      'the first claim acquires a new key with attempt 1',
      'claims that lost against a completed winner are answered completed',
    ],
  },
  'counts attempts from 70': {
    plant: acquires((answer) => ({ ...answer, attempt: answer.attempt + 69 })),
    caughtBy: [
      'the first claim acquires a new key with attempt 1',
      'one event at two endpoints is two keys',
      'an extend of a row that was lost is answered lost',
      'a forgotten key is a new one',
      'a completed key is forgotten after the retention that complete asked for',
    ],
  },
  'counts attempts up to 2': {
    plant: acquires((answer) => ({ ...answer, attempt: Math.min(answer.attempt, 2) })),
    caughtBy: 'a row keeps its fence, its attempts and what was seen first when the lease is over',
  },
  'gives the others another fence than the owner': {
    plant: refuses((answer) => ({ ...answer, fence: answer.fence + 1 })),
    caughtBy: 'an answer to another token says that the key is in progress, and for how long at most',
  },
  'says completed while the owner works': {
    plant: refuses((answer) => ({ ...answer, status: 'completed' })),
    caughtBy: [
      'exactly one of 32 simultaneous claims acquires a new key',
      'exactly one of 32 simultaneous claims acquires an expired row in any state',
      'a claim during a release is acquired or in_progress, and neither is lost',
      'a complete is never undone by a release or a claim at the same time',
      'a receiver whose clock is ahead does not acquire a key early',
    ],
  },
  'keeps 254 characters of an alias': {
    plant: withSeen(({ fingerprint, alias }) => ({ fingerprint, alias: alias?.slice(0, 254) })),
    caughtBy: 'an alias of 255 visible ASCII characters is returned as it is',
  },
  'forgets the alias of a lost row': {
    plant: (store) => ({ complete: (ref, options) => store.complete({ ...ref, alias: undefined }, options) }),
    caughtBy: 'a row that was lost before complete is created again as completed',
  },
  'remembers the first body for longer than the event': {
    plant(store, now) {
      const seen = new Map<string, string>();
      return asks(({ key, fingerprint }) => {
        seen.set(key, seen.get(key) ?? fingerprint);
        return { fingerprint: seen.get(key) ?? '' };
      })(store, now);
    },
    caughtBy: 'a completed key is forgotten after the retention that complete asked for',
  },
  'completes, and says that it is lost': {
    plant: (store) => ({ complete: (ref, options) => store.complete(ref, options).then(() => 'lost') }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
  'loses every complete': {
    plant: () => ({ complete: async () => 'lost' }),
    caughtBy: [
      'a completed key is answered completed to every token',
      'an owner that completes twice is answered ok',
      'a token that does not own the row is answered lost, and nothing is written',
      'no claim acquires a key while its owner completes it',
      'a completed key is kept for the retention that complete asked for',
      'a claim is completed although the clock of the receiver was set meanwhile',
      'a complete whose reply was lost is answered ok when another client sends it again',
      'a store whose connections were cut recovers and still knows its claims',
      'a report touches no event, and a purge removes no report whose time is not over',
    ],
  },
  'loses every release': {
    plant: () => ({ release: async () => 'lost' }),
    caughtBy: [
      'the next claim acquires a released key with a higher fence and attempt 2',
      'a release of a released or absent key is answered ok',
      'a claim during a release is acquired or in_progress, and neither is lost',
    ],
  },
  'loses every extend': {
    plant: () => ({ extend: async () => 'lost' }),
    caughtBy: [
      'a row is kept for as long as the lease that extend gave it',
      'a receiver whose clock is ahead does not acquire a key early',
    ],
  },
  'acknowledges the extend of an earlier owner': {
    plant(store) {
      const owners = new Set<string>();
      return {
        async extend(ref, options) {
          const answer = await store.extend(ref, options);
          if (answer === 'ok') owners.add(ref.token);
          return owners.has(ref.token) ? 'ok' : answer;
        },
      };
    },
    caughtBy: 'an owner that extends keeps its key, also after the lease, until another token takes it',
  },
  'counts an attempt for a stranger': {
    plant(store) {
      let strangers = 0;
      return {
        async complete(ref, options) {
          const answer = await store.complete(ref, options);
          if (answer === 'lost') strangers += 1;
          return answer;
        },
        async inspect(key) {
          const row = await store.inspect(key);
          return row && { ...row, attempt: row.attempt + strangers };
        },
      };
    },
    caughtBy: [
      'a token that does not own the row is answered lost, and nothing is written',
      'a stale owner is answered lost after a takeover, and the new owner keeps the key',
    ],
  },
  ...Object.fromEntries(
    Object.entries({
      'an absent row': () => ({ state: 'released', fence: 1, attempt: 1, fingerprint: '', retainMsLeft: 1 }) as const,
      'a row in progress as released': (row) => row && { ...row, state: 'released' },
      'a row with another body': (row) => row && { ...row, fingerprint: 'other-body' },
      'a row without its lease': (row) => row && { ...row, leaseMsLeft: undefined },
      'a completed row with a lease': (row) => row && { ...row, leaseMsLeft: row.leaseMsLeft ?? 30_001 },
    } satisfies Record<string, (row: DedupeRecord | undefined) => DedupeRecord | undefined>).map(([what, change]) => [
      `shows the operator ${what}`,
      {
        plant: (store: Store) => ({ inspect: async (key: string) => change(await store.inspect(key)) }),
        caughtBy: 'the operator sees a row in each state',
      },
    ]),
  ),
  'purges what is completed': {
    plant(store) {
      const { done, complete } = completedBy(store);
      return {
        complete,
        async purgeExpired(options) {
          for (const key of done.splice(0)) await store.forget(key);
          return store.purgeExpired(options);
        },
      };
    },
    caughtBy: 'a purge removes expired rows, no more than the limit, and nothing else',
  },
  'returns a report too many': {
    plant: (store) => ({ loadReports: async (name) => [...(await store.loadReports(name)), '"more"'] }),
    caughtBy: 'a report is kept as it came, in place of the last one of its receiver',
  },
  'takes a claim for a report': {
    plant(store) {
      const { done, complete } = completedBy(store);
      return { complete, loadReports: async (name) => [...(await store.loadReports(name)), ...done] };
    },
    caughtBy: 'a report touches no event, and a purge removes no report whose time is not over',
  },
  'changes the text of a report': {
    plant: (store) => ({
      loadReports: async (name) => (await store.loadReports(name)).map((text) => `${text.trim()} `),
    }),
    caughtBy: 'a report is kept as it came, in place of the last one of its receiver',
  },
  'takes one report of each receiver': {
    plant(store) {
      const known = new Set<string>();
      return {
        async saveReport(report) {
          const receiver = `${report.name}:${report.instance}`;
          if (!known.has(receiver)) await store.saveReport(report);
          known.add(receiver);
        },
      };
    },
    caughtBy: [
      'a report is kept as it came, in place of the last one of its receiver',
      'a report is gone when its time is over, and a new one of its receiver is there again',
    ],
  },
  'purges reports': {
    plant(store) {
      let purged = false;
      return {
        purgeExpired(options) {
          purged = true;
          return store.purgeExpired(options);
        },
        loadReports: async (name) => (purged ? [] : store.loadReports(name)),
      };
    },
    caughtBy: 'a report touches no event, and a purge removes no report whose time is not over',
  },
  ...PLANTED_JOB_BUGS,
};

/** Bugs with one value each, and the case that must find them all. */
export const PLANTED_VALUES: readonly { bug: string; plants: readonly Plant[]; caughtBy: string }[] = [
  {
    bug: 'changes one text',
    plants: ['123', '1e5', 'true', 'null', '{"a":1}', '007'].flatMap((text): Plant[] => [
      withSeen(({ fingerprint, alias }) => ({ fingerprint: fingerprint === text ? 'other' : fingerprint, alias })),
      withSeen(({ fingerprint, alias }) => ({ fingerprint, alias: alias === text ? 'other' : alias })),
      (store, now) => {
        let claims = 0;
        return asks(({ token }) => ({ token: token === text ? `${text} ${claims++}` : token }))(store, now);
      },
    ]),
    caughtBy: 'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are',
  },
  {
    bug: 'takes one token for another',
    plants: ['aaaa-token', 'AAAA-toke', 'AAAA-token ', 'AAAA-token2'].map((other) =>
      asks(({ token }) => ({ token: token === other ? 'AAAA-token' : token })),
    ),
    caughtBy: 'tokens are compared byte for byte',
  },
  {
    bug: 'takes one key for another',
    plants: ['a', 'A', 'a:', 'a:1', '{a}', '{b}', '%', '_', "'", '"', '\\', '*', '?', '[a]', '$1', '--', ';'].map(
      (suffix) => asks(({ key }) => ({ key: key.replace(new RegExp(`(?<=.{42})${escaped(suffix)}$`), '') })),
    ),
    caughtBy: 'keys that differ in case, in one byte, in a suffix or in special characters are different keys',
  },
  {
    bug: 'takes one wrong duration',
    plants: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5, undefined, '5'].flatMap((wrong): Plant[] => {
      const right = (ms: number) => (Object.is(ms, wrong) ? 60_000 : ms);
      return [
        asks(({ leaseMs }) => ({ leaseMs: right(leaseMs) })),
        asks(({ retainMs }) => ({ retainMs: right(retainMs) })),
        (store) => ({ extend: (ref, { leaseMs }) => store.extend(ref, { leaseMs: right(leaseMs) }) }),
        (store) => ({ complete: (ref, { retainMs }) => store.complete(ref, { retainMs: right(retainMs) }) }),
      ];
    }),
    caughtBy: 'durations that are not positive integers are refused before anything is sent',
  },
];

function escaped(text: string): string {
  return text.replace(/[{}*?[\]$\\]/g, '\\$&');
}

function held({ fingerprint, alias, leaseMs }: ClaimRequest) {
  return { status: 'in_progress', fence: 1, retryAfterMs: leaseMs, seen: { fingerprint, alias } } as const;
}

function withoutEndpoint(key: string): string {
  return key.replace(/^(orders|billing):/, '');
}

function tame(ms: number): number {
  return Math.max(1, Math.trunc(ms) || 1);
}

function isLate(row: DedupeRecord | undefined): boolean {
  return (row?.leaseMsLeft ?? 1) <= 0;
}

/** Looks at the row before a call. */
async function lostIf<T>(
  isLost: (row: DedupeRecord | undefined) => boolean,
  store: Store,
  { key }: ClaimRef,
  call: () => Promise<T>,
) {
  return isLost(await store.inspect(key)) ? 'lost' : call();
}

/** Knows what has been completed. */
function completedBy(store: Store) {
  const done: string[] = [];
  const complete: Store['complete'] = (ref, options) => {
    done.push(ref.key);
    return store.complete(ref, options);
  };
  return { done, complete };
}

/** Knows the owner of every key, to act in its name. */
function ownersOf(store: Store) {
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
