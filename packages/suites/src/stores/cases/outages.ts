import { must, needs } from '../../define-suite.js';
import { mustReject, until } from '../../waiting.js';
import { rivalOf, type StoreTrialCase } from '../trial.js';

/** Long enough for a client that reconnects, and longer than a receiver waits. */
const PATIENCE_MS = 10_000;

/** Cases about lost replies and servers that cannot be reached. */
export const outages: readonly StoreTrialCase[] = [
  {
    name: 'a claim whose reply was lost is answered the same when another client sends it again',
    rules: ['R2'],
    async run({ store, store2, request }) {
      const first = request();
      const lost = await store.claim(first);
      const again = await store2.claim(first);
      must(JSON.stringify(again) === JSON.stringify(lost), `the same answer: ${JSON.stringify(lost)}`, again);
      const stranger = await store.claim(rivalOf(first));
      must(stranger.status === 'in_progress', 'and no other token gets it', stranger);
    },
  },
  {
    name: 'a complete whose reply was lost is answered ok when another client sends it again',
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
    name: 'a store whose connections were cut recovers and still knows its claims',
    rules: ['R2'],
    skip: needs('disconnect'),
    async run({ store, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await options.disconnect?.(made);
      const again = await until(PATIENCE_MS, 'a claim is answered', () => store.claim(first));
      must(again.status === 'acquired' && again.fence === ref.fence, 'the claim is still there', again);
      await options.disconnect?.(made);
      const completed = await until(PATIENCE_MS, 'a complete is answered', () => store.complete(ref, first));
      must(completed === 'ok', 'the owner completes', completed);
    },
  },
  {
    name: 'a claim rejects when the server cannot be reached',
    rules: ['R1'],
    skip: needs('unreachable'),
    async run({ request, options }) {
      const store = await options.unreachable?.();
      await mustReject(PATIENCE_MS, 'a claim without a server', async () => store?.claim(request()));
      await store?.close?.();
    },
  },
];
