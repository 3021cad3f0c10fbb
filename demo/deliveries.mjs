import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { newEvent } from './events.mjs';
import { UNLUCKY } from './receiver.mjs';
import { delivery } from './sender.mjs';

const HANDLED = { answer: '200 handled', ran: true };
const refused = (status, code) => ({ answer: `${status} ${code}`, ran: false });

/**
 * Everything the demo sends, in order: groups of rows. `make` gives the request when its turn comes, `app` and `path` say where
 * it goes, `after` how many seconds pass first, and `expect` what has to come back.
 */
export function deliveries({ secret, now }) {
  const signed = (event, { skew = 0, ...options } = {}) =>
    delivery(event, { signedBy: secret, at: now() + skew * 1000, ...options });
  const fresh = () => newEvent('stt.completed', now());

  const again = newEvent('generation.completed', now());
  const unlucky = { ...newEvent('export.completed', now()), id: UNLUCKY };

  return [
    {
      title: 'The sixteen event types',
      rows: WEBHOOK_EVENT_TYPES.map((type) => ({
        sent: type,
        make: () => signed(newEvent(type, now())),
        expect: HANDLED,
        why: 'genuine, in time and new',
      })),
    },
    {
      title: 'The same event again',
      rows: [
        { sent: 'an event', make: () => signed(again), expect: HANDLED, why: 'genuine, in time and new' },
        {
          sent: 'the same event, 30 s later',
          after: 30,
          make: () => signed(again, { attempt: 2 }),
          expect: { answer: '200 duplicate', ran: false },
          why: 'done before: acknowledged, not run again',
        },
      ],
    },
    {
      title: 'Tampered and forged',
      rows: [
        {
          sent: 'one byte of the body changed',
          make: () => changeOneByte(signed(fresh())),
          expect: refused(401, 'signature_mismatch'),
          why: 'these are not the bytes that were signed',
        },
        {
          sent: 'signed with a guessed secret',
          make: () => signed(fresh(), { signedBy: 'a guess' }),
          expect: refused(401, 'signature_mismatch'),
          why: 'not signed with the secret of this endpoint',
        },
      ],
    },
    {
      title: 'Clock and replay: 300 s are allowed, either way',
      rows: [
        {
          sent: 'signed 300 s ago',
          make: () => signed(fresh(), { skew: -300 }),
          expect: HANDLED,
          why: 'at the limit: in time',
        },
        {
          sent: 'signed 301 s ago',
          make: () => signed(fresh(), { skew: -301 }),
          expect: refused(401, 'timestamp_too_old'),
          why: 'too old: a replay, or the clock here is fast',
        },
        {
          sent: 'signed 300 s in the future',
          make: () => signed(fresh(), { skew: 300 }),
          expect: HANDLED,
          why: 'at the limit: in time',
        },
        {
          sent: 'signed 301 s in the future',
          make: () => signed(fresh(), { skew: 301 }),
          expect: refused(401, 'timestamp_in_future'),
          why: 'too early: the clock here is slow',
        },
      ],
    },
    {
      title: 'The legacy signature, which has no time in it',
      rows: [
        {
          sent: 'only the legacy header',
          make: () => withoutV2(signed(fresh())),
          expect: refused(401, 'legacy_not_accepted'),
          why: 'could be replayed for ever: V2 is required',
        },
        {
          sent: "the same, to legacy: 'accept'",
          path: '/webhooks-with-legacy',
          make: () => withoutV2(signed(fresh())),
          expect: HANDLED,
          why: 'this endpoint opted in',
        },
        {
          sent: 'a broken V2 beside a good legacy one',
          path: '/webhooks-with-legacy',
          make: () => breakV2(signed(fresh())),
          expect: refused(401, 'malformed_signature'),
          why: 'where there is a V2, nothing else counts',
        },
      ],
    },
    {
      title: 'Mistakes and mishaps on the receiving side',
      rows: [
        {
          sent: 'an app with express.json() first',
          app: 'misbuilt',
          make: () => signed(fresh()),
          expect: refused(500, 'body_already_parsed'),
          why: 'the exact bytes are gone: mount it below',
        },
        {
          sent: 'an event whose handler throws',
          make: () => signed(unlucky),
          expect: { answer: '500 handler_failed', ran: true },
          why: 'not done, not acknowledged: it comes again',
        },
        {
          sent: 'its retry, 30 s later',
          after: 30,
          make: () => signed(unlucky, { attempt: 2 }),
          expect: HANDLED,
          why: 'the first run failed, so this one may run',
        },
      ],
    },
  ];
}

function changeOneByte({ headers, body }) {
  return { headers, body: body.replace('job_demo', 'job_dema') };
}

function withoutV2({ headers: { 'x-service-signature-v2': _, ...headers }, body }) {
  return { headers, body };
}

function breakV2({ headers, body }) {
  const value = headers['x-service-signature-v2'];
  return { headers: { ...headers, 'x-service-signature-v2': value.slice(0, -1) }, body };
}
