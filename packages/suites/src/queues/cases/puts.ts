import type { Delivery } from 'service-webhooks';
import { must } from '../../define-suite.js';
import { createGate } from '../../waiting.js';
import { eventIdOf, mustHaveRun, needsAbility, type QueueTrial, type QueueTrialCase } from '../trial.js';

const AWKWARD_IDS = [
  'evt_a:b:c',
  'evt_{} %é 日本',
  'evt_\u0001\u0000',
  'evt_42',
  `evt_${'x'.repeat(400)}`,
  'evt_/../*.>',
];

/** Cases about puts: every delivery arrives, once. */
export const puts: readonly QueueTrialCase[] = [
  {
    name: 'a delivery reaches the handler with the exact bytes of its body',
    rules: ['Q3'],
    async run(trial) {
      const queued = trial.delivery();
      const delivery = await handled(trial, queued);
      const { body } = delivery;
      must(body instanceof Uint8Array, 'the body is a Uint8Array', typeof body);
      must(btoa(String.fromCharCode(...body)) === queued.body, 'the body has the bytes that were put');
    },
  },
  {
    name: 'a delivery reaches the handler with all that was known of it',
    rules: ['Q3'],
    async run(trial) {
      const unsigned = { idempotencyKey: 'a key, "quoted"', webhookId: 'wh_1', attempt: 4 };
      const known = { scheme: 'v2', signedAt: 1_783_771_200_000, secretIndex: 2, tenant: 'acme', unsigned } as const;
      must(same(await handled(trial, trial.delivery(known)), known), 'scheme, time, secret, tenant and headers', known);
    },
  },
  {
    name: 'a legacy delivery reaches the handler without a signed time',
    rules: ['Q3'],
    async run(trial) {
      const delivery = await handled(trial, trial.delivery({ scheme: 'legacy', signedAt: undefined }));
      must(delivery.scheme === 'legacy' && delivery.signedAt === undefined, 'no signed time', delivery.signedAt);
    },
  },
  {
    name: 'a delivery of the largest size reaches the handler',
    rules: ['Q3', 'Q1'],
    async run(trial) {
      const queued = trial.delivery();
      const SIZE = 700_000; // in base64 it is close to the usual message limit of a broker
      const large = atob(queued.body).padEnd(SIZE, ' ');
      const delivery = await handled(trial, { ...queued, body: btoa(large) });
      must(delivery.body.length === SIZE, 'all bytes arrive', delivery.body.length);
    },
  },
  {
    name: 'events whose ids have awkward characters are handled',
    rules: ['Q3', 'Q2'],
    async run(trial) {
      const worker = await trial.work();
      for (const eventId of AWKWARD_IDS) {
        const key = eventId.length > 120 || /[^!-~]/.test(eventId) ? undefined : `suite:${eventId}`;
        await trial.put(trial.delivery({ eventId, ...(key && { key }) }));
      }
      const ids = () => worker.runs.map(({ id }) => id);
      await trial.until('every event is handled', () => AWKWARD_IDS.every((id) => ids().includes(id)));
    },
  },
  {
    name: 'one event under the keys of two endpoints is two deliveries',
    rules: ['Q2'],
    async run(trial) {
      const worker = await trial.work();
      const [one, two] = [trial.delivery({ key: 'one:evt_1' }), trial.delivery({ key: 'two:evt_1' })];
      await trial.put(one);
      await trial.put(two);
      await trial.until('both are handled', () => worker.runs.length === 2);
    },
  },
  {
    name: 'a key that waits is known',
    rules: ['Q2'],
    skip: needsAbility('known'),
    async run(trial) {
      const queued = trial.delivery();
      await trial.put(queued);
      await mustBeKnown(trial, queued);
      const worker = await trial.work();
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'the delivery is run once');
    },
  },
  {
    name: 'a key whose job runs is known',
    rules: ['Q2'],
    skip: needsAbility('known'),
    async run(trial) {
      const queued = trial.delivery();
      const { open, opened } = createGate();
      const worker = await trial.work((event) => (event.id === eventIdOf(queued) ? opened : undefined));
      await trial.put(queued);
      await trial.until('the job runs', () => worker.attemptsOf(queued).length === 1);
      await mustBeKnown(trial, queued);
      open();
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'the delivery is run once');
    },
  },
  {
    name: 'a key whose job is done is known, and is not run again',
    rules: ['Q2'],
    skip: needsAbility('known'),
    async run(trial) {
      const queued = trial.delivery();
      const worker = await trial.work();
      await trial.put(queued);
      await trial.until('the delivery is handled', () => worker.attemptsOf(queued).length === 1);
      await trial.drain(worker);
      await mustBeKnown(trial, queued);
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'the delivery is run once');
    },
  },
  {
    name: 'exactly one of 32 simultaneous puts of a key over two clients is queued',
    rules: ['Q2'],
    skip: needsAbility('known'),
    async run(trial) {
      const ROUNDS = 5;
      const worker = await trial.work();
      for (let round = 0; round < ROUNDS; round += 1) {
        const queued = trial.delivery();
        const clients = Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? trial.queue : trial.queue2));
        const answers = await Promise.all(clients.map((client) => client.put(queued)));
        must(answers.filter((answer) => answer === 'queued').length === 1, 'exactly one is queued', answers);
        await trial.drain(worker);
        mustHaveRun(worker, queued, 1, 'the delivery is run once');
      }
    },
  },
];

async function mustBeKnown({ queue, queue2 }: QueueTrial, queued: Parameters<typeof queue.put>[0]): Promise<void> {
  for (const client of [queue, queue2]) {
    const answer = await client.put({ ...queued, receivedAt: queued.receivedAt + 1 });
    must(answer === 'known', 'a key that the engine has is known', answer);
  }
}

async function handled(trial: QueueTrial, queued: Parameters<QueueTrial['put']>[0]): Promise<Delivery> {
  const worker = await trial.work();
  await trial.put(queued);
  await trial.until('the delivery is handled', () => worker.attemptsOf(queued).length === 1);
  return (worker.runs[0] as (typeof worker.runs)[0]).context.delivery;
}

/** Returns whether a delivery has these values, compared as JSON; an engine may reorder the fields of an object. */
function same(delivery: Delivery, expected: Partial<Delivery>): boolean {
  return Object.entries(expected).every(
    ([field, value]) => ordered(delivery[field as keyof Delivery]) === ordered(value),
  );
}

function ordered(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null;
  return JSON.stringify(isObject ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : value);
}
