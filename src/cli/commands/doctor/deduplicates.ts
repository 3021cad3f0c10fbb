import { tamper } from '../../../testing/tamper.js';
import { duplicateByKey, duplicates, eachHandled, handledOnce } from './judge.js';
import type { Probe } from './probe.js';

const BY_ID = 'Tell events apart by their signed id: no signature covers Idempotency-Key.';

/** Probes with events that arrive more than once. */
export const DEDUPLICATES: readonly Probe[] = [
  {
    name: 'duplicate',
    says: 'an event, and its second attempt',
    requests({ good }) {
      const delivery = good();
      return [delivery, delivery.again({ attempt: 2 })];
    },
    judge: duplicates,
    fix: 'Remember the id of each event that is done, and answer 200 when it comes again.',
  },
  {
    name: 'duplicate-new-key',
    says: 'an event twice, and again under another Idempotency-Key',
    requests({ good }) {
      const delivery = good();
      return [delivery, delivery.again({ attempt: 2 }), tamper.changedIdempotencyKey(delivery)];
    },
    judge: duplicateByKey,
    fix: BY_ID,
  },
  {
    name: 'shared-key',
    says: 'two events under one Idempotency-Key',
    requests({ good }) {
      const delivery = good();
      return [delivery, tamper.changedIdempotencyKey(good(), delivery.headers['idempotency-key'])];
    },
    judge: eachHandled,
    fix: BY_ID,
  },
  {
    name: 'same-moment',
    says: 'an event five times at once',
    requests({ good }) {
      const delivery = good();
      return [1, 2, 3, 4, 5].map((attempt) => delivery.again({ attempt }));
    },
    atOnce: true,
    judge: handledOnce,
    fix: 'Claim the id before the work begins, in a store that all processes share.',
  },
];
