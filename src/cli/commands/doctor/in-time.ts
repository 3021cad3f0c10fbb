import { acknowledged, acknowledgedLast, answered } from './judge.js';
import type { Probe } from './probe.js';

/** Probes of what prevents an endpoint from answering in time, or at all. */
export const IN_TIME: readonly Probe[] = [
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
    says: 'rightly signed, and no JSON',
    requests: ({ withBody }) => [withBody('{"id":')],
    judge: answered,
    fix: 'Answer 400 to what cannot be parsed.',
  },
];
