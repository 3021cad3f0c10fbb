import { tamper } from 'service-webhooks/testing';
import { duplicateByKey, duplicates, eachHandled, handledOnce } from './dedupe-judges.js';
import { REFUSES } from './hostile-probes.js';
import { acknowledged, acknowledgedLast, acknowledgedTypes, answered, type Requirement } from './judge.js';

const ANY_EVENT = 'Acknowledge unknown events: a refused one is tried six times and counts toward the pause.';
const TIME = 'Accept where t is up to 300 s from now, past and future, and check the clock of the server.';

/** Deliveries that the service may send. */
const ACCEPTS: readonly Requirement[] = [
  {
    name: 'good',
    says: 'a good delivery, in JSON that does not survive being parsed and written again',
    requests: ({ good }) => [good()],
    judge: acknowledged,
    fix: 'Verify the raw body, before anything parses it, with the secret of this endpoint.',
  },
  {
    name: 'every-type',
    says: 'one of each event type',
    requests: ({ ofEachType }) => ofEachType(),
    judge: acknowledgedTypes,
    fix: ANY_EVENT,
  },
  {
    name: 'new-type',
    says: 'an event type that is not known yet',
    requests: ({ withFields }) => [withFields({ type: 'doctor.unknown' })],
    judge: acknowledged,
    fix: ANY_EVENT,
  },
  {
    name: 'new-version',
    says: 'a later version of the payload',
    requests: ({ withFields }) => [withFields({ version: '2099-01-01' })],
    judge: acknowledged,
    fix: ANY_EVENT,
  },
  {
    name: 'retry',
    says: 'the third attempt of an event whose first ones never arrived',
    requests: ({ good }) => [good({ attempt: 3 })],
    judge: acknowledged,
    fix: 'Tell events apart by their id. The number of the attempt says nothing about what arrived.',
  },
  {
    name: 'large',
    says: 'a body of 512 KiB',
    requests: ({ large }) => [large(512 * 1024)],
    judge: acknowledged,
    fix: 'Raise the limit of the body: by default it is 100 kB in Express and Nest, 512 kB in the Node server of SvelteKit (BODY_SIZE_LIMIT) and 1 MiB in Fastify.',
  },
  {
    name: 'older',
    says: 'signed 240 s ago',
    requests: ({ good }) => [tamper.stale(good(), 240)],
    judge: acknowledged,
    fix: TIME,
  },
  {
    name: 'ahead',
    says: 'signed 240 s from now',
    requests: ({ good }) => [tamper.future(good(), 240)],
    judge: acknowledged,
    fix: TIME,
  },
];

const BY_ID = 'Tell events apart by their signed id: no signature covers Idempotency-Key.';

/** Probes with events that arrive more than once. */
const DEDUPLICATES: readonly Requirement[] = [
  {
    name: 'duplicate',
    says: 'an event, and its second attempt',
    requests({ good }) {
      const delivery = good();
      return [delivery, delivery.again({ attempt: 2 })];
    },
    judge: duplicates,
    fix: 'Remember the id of each event that is done, and answer 200 when the service retries it.',
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

/** Probes of what prevents an endpoint from answering in time, or at all. */
const IN_TIME: readonly Requirement[] = [
  {
    name: 'burst',
    says: 'twenty deliveries at once',
    requests: ({ good }) => Array.from({ length: 20 }, () => good()),
    atOnce: true,
    judge: acknowledged,
    fix: 'Answer within 20 s: queue the work and answer 202.',
  },
  {
    name: 'slow-body',
    says: 'a body that takes a second to come',
    requests: ({ good }) => [{ ...good(), slowMs: 1_000 }],
    judge: acknowledged,
    fix: 'Give a body some seconds to come.',
  },
  {
    name: 'broken-off',
    says: 'a body that breaks off, and then a good delivery',
    requests: ({ good }) => [{ ...good(), breakOff: true }, good()],
    judge: acknowledgedLast,
    fix: 'Handle errors of the request stream: a client that goes away must not stop the server.',
  },
  {
    name: 'no-event',
    says: 'correctly signed, and not JSON',
    requests: ({ withBody }) => [withBody('{"id":')],
    judge: answered,
    fix: 'Answer 400 to a body that cannot be parsed.',
  },
];

const GROUPS = {
  accepts: ACCEPTS,
  refuses: REFUSES,
  deduplicates: DEDUPLICATES,
  'in time': IN_TIME,
} as const satisfies Record<string, readonly Requirement[]>;

/** A requirement with its group. */
export type Probe = Requirement & { group: keyof typeof GROUPS };

/** All probes. The first is the gate: if a valid delivery is not accepted, the others show nothing. */
export const PROBES: readonly Probe[] = Object.entries(GROUPS).flatMap(([group, probes]) =>
  probes.map((probe) => ({ ...probe, group: group as Probe['group'] })),
);

/** Returns the probes with these names, or all; without those to skip. The gate is always one of them. */
export function chosenProbes(only: readonly unknown[] | undefined, skip: readonly string[] = []): readonly Probe[] {
  const [gate] = PROBES;
  return PROBES.filter((probe) => probe === gate || (only?.includes(probe.name) ?? !skip.includes(probe.name)));
}
