import { must } from '../../define-suite.js';
import { isFence, isHeld, LONG, mustBeLost, mustChangeNothing, refOf, rivalOf, type StoreTrialCase } from '../trial.js';

/** Cases about the answer to each call in each state. */
export const states: readonly StoreTrialCase[] = [
  {
    name: 'the first claim acquires a new key with attempt 1',
    rules: ['R1'],
    async run({ request, acquire }) {
      const first = request();
      const { result } = await acquire(first);
      must(result.attempt === 1, 'a first claim has attempt 1', result);
      must(isFence(result.fence), 'a fence is a positive safe integer', result);
    },
  },
  {
    name: 'an answer to another token says that the key is in progress, and for how long at most',
    rules: ['R1', 'R11'],
    async run({ store2, request, acquire }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      const result = await store2.claim(second);
      must(isHeld(result, LONG), 'in_progress with 0 < retryAfterMs <= leaseMs', result);
      must(result.status === 'in_progress' && result.retryAfterMs > LONG / 2, 'retryAfterMs is milliseconds', result);
      must(result.fence === ref.fence, 'in_progress has the fence of the owner', result);
    },
  },
  {
    name: 'the same token gets its claim again, with a renewed lease',
    rules: ['R2'],
    async run({ store, store2, request, acquire }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire({ ...first, leaseMs: LONG / 10 });
      for (const client of [store, store2]) {
        const again = await client.claim(first);
        const isSame = again.status === 'acquired' && again.fence === ref.fence && again.attempt === 1;
        must(isSame, 'the same claim', again);
      }
      const other = await store2.claim(second);
      must(other.status === 'in_progress' && other.retryAfterMs > LONG / 2, 'a renewed lease', other);
    },
  },
  {
    name: 'a completed key is answered completed to every token',
    rules: ['R1', 'R5'],
    async run({ store, store2, request, acquire }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      const completed = await store.complete(ref, first);
      must(completed === 'ok', 'the owner completes', completed);
      for (const claimant of [first, second]) {
        const result = await store2.claim(claimant);
        must(result.status === 'completed' && result.fence === ref.fence, 'completed, with its fence', result);
      }
    },
  },
  {
    name: 'an owner that completes twice is answered ok',
    rules: ['R5'],
    async run({ store, store2, request, acquire }) {
      const first = request();
      const { ref } = await acquire(first);
      for (const client of [store, store2, store]) {
        const completed = await client.complete(ref, first);
        must(completed === 'ok', 'complete may be sent again', completed);
      }
    },
  },
  {
    name: 'the next claim acquires a released key with a higher fence and attempt 2',
    rules: ['R6', 'R3'],
    async run({ store, store2, request, acquire }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      const released = await store.release(ref);
      must(released === 'ok', 'the owner releases', released);
      const { result } = await acquire(second, store2);
      must(result.fence > ref.fence && result.attempt === 2, 'a higher fence and attempt 2 after a release', result);
    },
  },
  {
    name: 'a release of a released or absent key is answered ok',
    rules: ['R6'],
    async run({ store, request, acquire }) {
      const first = request();
      const { ref } = await acquire(first);
      const absent = refOf(request(), { fence: 1 });
      for (const claim of [ref, ref, absent]) {
        const released = await store.release(claim);
        must(released === 'ok', 'nothing is left to release: ok', released);
      }
    },
  },
  {
    name: 'a completed row stays completed when it is released or extended afterwards',
    rules: ['R5'],
    async run({ store, request, acquire }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      await store.complete(ref, first);
      const answers = [await store.release(ref), await store.extend(ref, first)];
      mustBeLost('release and extend after complete', answers);
      const result = await store.claim(second);
      must(result.status === 'completed', 'still completed', result);
    },
  },
  {
    name: 'an owner that has released its key does not complete or extend it',
    rules: ['R5'],
    async run({ store, request, acquire }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      await store.release(ref);
      const answers = [await store.extend(ref, first), await store.complete(ref, first)];
      mustBeLost('extend and complete after release', answers);
      await acquire(second);
    },
  },
  {
    name: 'all three results have the fingerprint and the alias that came first',
    rules: ['R8'],
    async run({ store, request, acquire }) {
      const first = request();
      const second = rivalOf(first, { fingerprint: 'other-body', alias: 'other-alias' });
      const isFirst = (seen: unknown) => {
        const { fingerprint, alias } = (seen ?? {}) as { fingerprint?: string; alias?: string };
        return fingerprint === 'first-body' && alias === 'first-alias';
      };
      const { ref } = await acquire(first);
      const waiting = await store.claim(second);
      must(waiting.status === 'in_progress' && isFirst(waiting.seen), 'in_progress has what was seen first', waiting);
      await store.release(ref);
      const { result, ref: ref2 } = await acquire(second);
      must(isFirst(result.seen), 'acquired has what was seen first', result);
      await store.complete(ref2, second);
      const completed = await store.claim(rivalOf(second));
      must(completed.status === 'completed' && isFirst(completed.seen), 'completed has what was seen first', completed);
    },
  },
  {
    name: 'no result has an alias where none came first',
    rules: ['R8'],
    async run({ store, request, acquire }) {
      const first = request({ alias: undefined });
      const second = rivalOf(first);
      await acquire(first);
      const result = await store.claim({ ...second, alias: 'other-alias' });
      must(result.status === 'in_progress', 'in_progress', result);
      must(result.seen.alias === undefined, 'an alias that was not there is undefined', result);
    },
  },
  {
    name: 'a token that does not own the row is answered lost, and nothing is written',
    rules: ['R5'],
    async run(trial) {
      const { store, store2, request, acquire } = trial;
      const first = request();
      const stranger = rivalOf(first);
      const { result, ref } = await acquire(first);
      const strange = { ...refOf(stranger, result), fingerprint: 'other-body', alias: 'other-alias' };
      await mustChangeNothing(trial, store2, strange, 'extend, release and complete of a stranger');
      const held = await store2.claim(stranger);
      must(isHeld(held, LONG), 'still in progress, with the lease it had', held);
      const completed = await store.complete(ref, first);
      must(completed === 'ok', 'the owner still owns it', completed);
    },
  },
  {
    name: 'keys that differ in case, in one byte, in a suffix or in special characters are different keys',
    rules: ['R7'],
    async run({ store, request, acquire }) {
      const base = request();
      const long = base.key.padEnd(199, 'x');
      const suffixes = [
        'a',
        'A',
        'a:',
        'a:1',
        '{a}',
        '{b}',
        '%',
        '_',
        "'",
        '"',
        '\\',
        '*',
        '?',
        '[a]',
        '$1',
        '--',
        ';',
      ];
      const keys = [...suffixes.map((suffix) => base.key + suffix), `${long}x`, `${long}y`, base.key];
      for (const key of keys) {
        const { result } = await acquire(rivalOf(base, { key }));
        must(result.attempt === 1, `${key} is a key of its own`, result);
      }
      for (const key of keys) {
        const result = await store.claim(rivalOf(base, { key }));
        must(result.status === 'in_progress', `${key} is in progress`, result);
      }
    },
  },
  {
    name: 'tokens are compared byte for byte',
    rules: ['R7'],
    async run({ store, request, acquire }) {
      const first = request({ token: 'AAAA-token' });
      await acquire(first);
      for (const token of ['aaaa-token', 'AAAA-toke', 'AAAA-token ', 'AAAA-token2']) {
        const result = await store.claim({ ...first, token });
        must(result.status === 'in_progress', `"${token}" is another token`, result);
      }
    },
  },
  {
    name: 'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are',
    rules: ['R8'],
    async run({ store, request, acquire }) {
      for (const text of ['123', '1e5', 'true', 'null', '{"a":1}', '007']) {
        const first = request({ fingerprint: text, alias: text });
        const second = rivalOf(first);
        await acquire({ ...first, token: text });
        const result = await store.claim(second);
        const { seen } = result as { seen?: { fingerprint?: unknown; alias?: unknown } };
        must(seen?.fingerprint === text && seen.alias === text, `"${text}" stays a text`, result);
        const again = await store.claim({ ...first, token: text });
        must(again.status === 'acquired', `"${text}" stays the same token`, again);
      }
    },
  },
  {
    name: 'an alias of 255 visible ASCII characters is returned as it is',
    rules: ['R8'],
    async run({ store, request, acquire }) {
      const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode('!'.charCodeAt(0) + i)).join('');
      const first = request({ alias: visible.repeat(3).slice(0, 255) });
      await acquire(first);
      const { seen } = (await store.claim(rivalOf(first))) as { seen?: { alias?: unknown } };
      must(seen?.alias === first.alias, 'the alias as it was claimed', seen);
    },
  },
  {
    name: 'one event at two endpoints is two keys',
    rules: ['R7'],
    async run({ store, request, acquire }) {
      const { key, ...rest } = request();
      const { ref } = await acquire({ ...rest, key: `orders:${key}` });
      await store.complete(ref, rest);
      const { result } = await acquire({ ...rest, key: `billing:${key}` });
      must(result.attempt === 1, 'the second endpoint has a row of its own', result);
    },
  },
  {
    name: 'durations that are not positive integers are refused before anything is sent',
    rules: ['R10'],
    async run({ store, request, acquire }) {
      const held = request();
      const { ref } = await acquire(held);
      for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5, undefined, '5']) {
        const fresh = request();
        const bad = ms as number;
        must(await refuses(() => store.claim({ ...fresh, leaseMs: bad })), `claim with leaseMs ${ms} is refused`);
        must(await refuses(() => store.claim({ ...fresh, retainMs: bad })), `claim with retainMs ${ms} is refused`);
        must(await refuses(() => store.extend(ref, { leaseMs: bad })), `extend with leaseMs ${ms} is refused`);
        must(await refuses(() => store.complete(ref, { retainMs: bad })), `complete with retainMs ${ms} is refused`);
        const { result } = await acquire(fresh);
        must(result.attempt === 1, 'a refused claim left no trace', result);
      }
      const result = await store.complete(ref, held);
      must(result === 'ok', 'the claim is still there after the refused calls', result);
    },
  },
];

async function refuses(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return false;
  } catch {
    return true;
  }
}
