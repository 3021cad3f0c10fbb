import { tamper } from 'service-webhooks/testing';
import { legacyRefused, type Requirement, refused } from './judge.js';

const SIGNATURE = 'Verify the V2 signature of every request, and answer 401 where it does not match.';
const TIME = 'Refuse where t is more than 300 s from now, past or future.';
const CONTENT = 'The signature is over t, a dot and the exact body, with the t of the header.';
const V2_ONLY = 'Where there is a V2 header, verify that one alone. Accept the legacy header by choice only.';

/** Returns a V2 header of the right form with signatures of no secret. */
const v2 = (...macs: string[]) => `t=${Math.floor(Date.now() / 1000)}${macs.map((mac) => `,v1=${mac}`).join('')}`;
const ZEROS = '0'.repeat(64);

/** Probes with requests that the service would not send. */
export const REFUSES: readonly Requirement[] = [
  {
    name: 'unsigned',
    says: 'no signature headers',
    requests: ({ resigned }) => [resigned({})],
    judge: refused,
    fix: SIGNATURE,
  },
  {
    name: 'empty-signature',
    says: 'empty signature headers',
    requests: ({ resigned }) => [resigned({ v2: '', legacy: '' })],
    judge: refused,
    fix: SIGNATURE,
  },
  {
    name: 'wrong-secret',
    says: 'signed with another secret',
    requests: ({ good }) => [tamper.wrongSecret(good())],
    judge: refused,
    fix: SIGNATURE,
  },
  {
    name: 'unset-secret',
    says: "signed with the secrets '', 'undefined' and 'null'",
    requests: ({ guessed }) => ['', 'undefined', 'null'].map(guessed),
    judge: refused,
    fix: 'Stop at start when the secret is not set.',
  },
  {
    name: 'flipped-bit',
    says: 'one bit of the body changed',
    requests: ({ good }) => [tamper.flippedBit(good(), 100)],
    judge: refused,
    fix: SIGNATURE,
  },
  {
    name: 'truncated',
    says: 'the last byte of the body missing',
    requests({ good }) {
      const delivery = good();
      return [{ ...delivery, body: delivery.body.subarray(0, -1) }];
    },
    judge: refused,
    fix: SIGNATURE,
  },
  {
    name: 'stale',
    says: 'correctly signed, ten minutes ago',
    requests: ({ good }) => [tamper.stale(good())],
    judge: refused,
    fix: TIME,
  },
  {
    name: 'future',
    says: 'correctly signed, ten minutes from now',
    requests: ({ good }) => [tamper.future(good())],
    judge: refused,
    fix: TIME,
  },
  {
    name: 'moved-time',
    says: 'signed an hour ago, with t set to now',
    requests: ({ timeMoved }) => [timeMoved()],
    judge: refused,
    fix: CONTENT,
  },
  {
    name: 'time-not-signed',
    says: 'in the V2 header a signature over the body alone',
    requests: ({ withoutTime }) => [withoutTime()],
    judge: refused,
    fix: CONTENT,
  },
  {
    name: 'stripped-v2',
    says: 'only the legacy signature, which is valid',
    requests: ({ good }) => [tamper.strippedV2(good())],
    judge: legacyRefused,
    fix: "Leave legacy: 'accept' out once the service sends V2 to this endpoint.",
  },
  {
    name: 'broken-v2',
    says: 'an invalid V2 signature next to a valid legacy one',
    requests: ({ withV2 }) => [withV2(v2(ZEROS)), withV2('v2')],
    judge: refused,
    fix: V2_ONLY,
  },
  {
    name: 'short-signature',
    says: 'signatures of no and of one byte',
    requests: ({ resigned }) => [
      resigned({ v2: v2(''), legacy: 'sha256=' }),
      resigned({ v2: v2('00'), legacy: 'sha256=00' }),
    ],
    judge: refused,
    fix: 'Compare only signatures of 64 hex digits.',
  },
  {
    name: 'many-signatures',
    says: 'a hundred signatures in one header',
    requests: ({ resigned }) => [resigned({ v2: v2(...Array<string>(100).fill(ZEROS)) })],
    judge: refused,
    fix: SIGNATURE,
  },
  {
    name: 'large-forgery',
    says: 'a megabyte without a valid signature',
    requests: ({ large, resigned }) => [{ ...large(1024 * 1024), headers: resigned({ v2: v2(ZEROS) }).headers }],
    judge: refused,
    fix: SIGNATURE,
  },
];
