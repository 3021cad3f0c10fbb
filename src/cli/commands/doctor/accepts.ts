import { tamper } from '../../../testing/tamper.js';
import { acknowledged } from './judge.js';
import type { Probe } from './probe.js';

const ANY_EVENT = 'Acknowledge what you do not know: refused, it is tried six times and counts toward the pause.';
const TIME = 'Accept where t is up to 300 s from now, past and future; and look at the clock.';

/** Deliveries that the service may send. */
export const ACCEPTS: readonly Probe[] = [
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
    judge: acknowledged,
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
    fix: 'Raise the limit of the body: by default it is 100 kB in Express and 1 MiB in Fastify.',
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
