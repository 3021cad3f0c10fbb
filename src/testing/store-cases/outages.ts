import { later } from '../../deadline.js';
import { must } from '../must.js';
import { needs, rivalOf, type TrialCase } from './trial.js';

/** Long enough for a client that tries to connect again; the receiver itself gives up after 2 s. */
const PATIENCE_MS = 10_000;

/** Replies that are lost, servers that are gone. */
export const outages: readonly TrialCase[] = [
  {
    name: 'answers a claim that is sent again by another client, since its reply was lost, as the first time',
    rules: ['R2'],
    async run({ store, store2, request }) {
      const first = request();
      const lost = await store.claim(first);
      const again = await store2.claim(first);
      must(JSON.stringify(again) === JSON.stringify(lost), `the same answer: ${JSON.stringify(lost)}`, again);
      const stranger = await store.claim(rivalOf(first));
      must(stranger.status === 'in_progress', 'and nobody else gets it', stranger);
    },
  },
  {
    name: 'answers a complete that is sent again by another client, since its reply was lost, with ok',
    rules: ['R5'],
    async run({ store, store2, request, acquire }) {
      const first = request();
      const { ref } = await acquire(first);
      await store.complete(ref, first);
      const again = await store2.complete(ref, first);
      must(again === 'ok', 'ok', again);
    },
  },
  {
    name: 'works on after its connections were cut, and still knows its claims',
    rules: ['R2'],
    skip: needs('disconnect'),
    async run({ store, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await options.disconnect?.(made);
      const again = await untilAnswered(() => store.claim(first));
      must(again.status === 'acquired' && again.fence === 1, 'the claim is still there', again);
      await options.disconnect?.(made);
      const completed = await untilAnswered(() => store.complete(ref, first));
      must(completed === 'ok', 'the owner completes', completed);
    },
  },
  {
    name: 'rejects when its server cannot be reached',
    rules: ['R1'],
    skip: needs('unreachable'),
    async run({ request, options }) {
      const store = await options.unreachable?.();
      const refused = await Promise.race([
        store?.claim(request()).then(
          () => 'answered',
          (error) => (error instanceof Error ? 'rejected' : 'rejected with no Error'),
        ),
        new Promise((resolve) => later(() => resolve('hangs'), PATIENCE_MS)),
      ]);
      must(refused === 'rejected', 'a claim without a server rejects with an Error', refused);
      await store?.close?.();
    },
  },
];

/** A client may need a moment to connect again: until then its calls may reject. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
