import { type SignedDelivery, tamper } from 'service-webhooks/testing';
import { Failure } from '../../failure.js';
import type { Outgoing } from '../../http/deliver.js';

/** A delivery, and how it is sent. */
type Sending = SignedDelivery & Pick<Outgoing, 'slowMs' | 'breakOff'>;

interface Fault {
  /** The defect, in words. */
  says: string;
  /** Returns the requests to send instead, in their order. */
  apply(sending: Sending): Sending | readonly Sending[];
}

/** The faults of a delivery that is sent, by name; the table in `docs/cli.md`. */
export const FAULTS = {
  'wrong-secret': { says: 'signed with another secret', apply: tamper.wrongSecret },
  'flipped-bit': { says: 'one bit of the body is another one', apply: (sending) => tamper.flippedBit(sending) },
  stale: { says: 'signed ten minutes ago', apply: (sending) => tamper.stale(sending) },
  future: { says: 'signed ten minutes from now', apply: (sending) => tamper.future(sending) },
  'stripped-v2': { says: 'only the legacy signature is left', apply: tamper.strippedV2 },
  'other-key': {
    says: 'another Idempotency-Key, which no signature covers',
    apply: (sending) => tamper.changedIdempotencyKey(sending),
  },
  reserialised: { says: 'the body is parsed and written again', apply: reserialised },
  truncated: {
    says: 'the second half of the body is missing',
    apply: (sending) => ({ ...sending, body: sending.body.subarray(0, sending.body.length >> 1) }),
  },
  duplicate: {
    says: 'sent twice, the second time as the next attempt',
    apply: (sending) => [sending, nextOf(sending)],
  },
  slow: { says: 'the body comes in pieces, over five seconds', apply: (sending) => ({ ...sending, slowMs: 5_000 }) },
  reset: {
    says: 'the connection is cut in the middle of the body',
    apply: (sending) => ({ ...sending, breakOff: true }),
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** Applies faults in the given order. */
export function withFaults(sending: Sending, names: readonly FaultName[]): readonly Sending[] {
  const { at, again } = sending; // a spread of a delivery leaves them out, and a later fault needs them
  return names.reduce<readonly Sending[]>(
    (sendings, name) => {
      const { apply }: Fault = FAULTS[name];
      return sendings.flatMap((one) => apply(one));
    },
    [{ ...sending, at, again }],
  );
}

/** Returns the next attempt with the same headers except the number of the attempt, so that earlier faults remain. */
function nextOf(sending: Sending): Sending {
  const headers = Object.entries(sending.headers).map(([name, value]) => [
    name,
    /-attempt$/.test(name) ? String(Number(value) + 1) : value,
  ]);
  return { ...sending, headers: Object.fromEntries(headers) };
}

/**
 * @throws Failure for a body that is no longer JSON
 */
function reserialised(sending: Sending): Sending {
  try {
    return tamper.reserialisedBody(sending);
  } catch {
    throw new Failure(
      'usage',
      '--fault reserialised needs a body of whole JSON: put it before truncated and flipped-bit.',
    );
  }
}
