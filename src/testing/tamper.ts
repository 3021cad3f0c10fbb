import { check, checkObject } from '../check.js';
import { exactBytes } from '../http.js';
import type { DeliveryRequest, SignedDelivery, SigningOptions } from './sign-delivery.js';

/**
 * What can be wrong with a delivery: each makes another delivery of the one it is given. They can be put one around
 * the other, in any order.
 *
 * @throws WebhookError `invalid_option` for what cannot be tampered with in this way
 * @example
 * await expect(receiver(tamper.flippedBit(delivery))).toRefuseWith('signature_mismatch');
 */
export const tamper = {
  /** One bit of the body, counted from the lowest of the first byte. */
  flippedBit<D extends DeliveryRequest>(delivery: D, bit = 0): D {
    const body = new Uint8Array(bytesOf(delivery));
    const byte = body[Math.floor(bit / 8)];
    check(Number.isInteger(bit) && byte !== undefined, 'bit must be one of the body');
    body[Math.floor(bit / 8)] = byte ^ (1 << (bit % 8));
    return { ...delivery, body };
  },

  /** Rightly signed, but so many seconds before its time. */
  stale: <D extends SignedDelivery>(delivery: D, seconds = 600): D => moved(delivery, -seconds),

  /** Rightly signed, but so many seconds after its time. */
  future: <D extends SignedDelivery>(delivery: D, seconds = 600): D => moved(delivery, seconds),

  /** Signed by somebody who does not know the secret. */
  wrongSecret: <D extends SignedDelivery>(delivery: D): D => signedWith(delivery, { secret: 'a guess at the secret' }),

  /** Only the legacy signature is left, as an attacker would have it. */
  strippedV2<D extends DeliveryRequest>(delivery: D): D {
    const kept = headersOf(delivery).filter(([name]) => !/-signature-v2$/i.test(name));
    return { ...delivery, headers: Object.fromEntries(kept) };
  },

  /** The header that no signature covers. The delivery stays a right one, of the same event. */
  changedIdempotencyKey<D extends DeliveryRequest>(delivery: D, key = 'another-key'): D {
    const others = headersOf(delivery).filter(([name]) => name.toLowerCase() !== 'idempotency-key');
    return { ...delivery, headers: { ...Object.fromEntries(others), 'idempotency-key': key } };
  },

  /** The body as `JSON.stringify(JSON.parse(body))` has it, which is how most receivers break it. */
  reserialisedBody<D extends DeliveryRequest>(delivery: D): D {
    const text = new TextDecoder().decode(bytesOf(delivery));
    const written = writtenAgain(text);
    check(written !== text, 'body is already what JSON.stringify makes: sign an event, or another spelling');
    return { ...delivery, body: new TextEncoder().encode(written) };
  },
};

function headersOf(delivery: DeliveryRequest): [name: string, value: string][] {
  checkObject('delivery', delivery);
  return Object.entries(delivery.headers);
}

function bytesOf(delivery: DeliveryRequest): Uint8Array {
  checkObject('delivery', delivery);
  return exactBytes(delivery.body, 'A delivery has its body as bytes.');
}

function moved<D extends SignedDelivery>(delivery: D, seconds: number): D {
  const at = delivery?.at + seconds * 1000;
  return { ...signedWith(delivery, { at }), at };
}

/** With other signatures in the place of those that are there: what was tampered with before stays so. */
function signedWith<D extends SignedDelivery>(delivery: D, changes: Partial<SigningOptions>): D {
  check(typeof delivery?.again === 'function', 'delivery must be one that signDelivery made');
  const signed = delivery.again({ at: delivery.at, ...changes }).headers;
  const headers = { ...delivery.headers };
  for (const name in headers)
    if (/-(signature(-v2)?|timestamp)$/.test(name)) headers[name] = signed[name] ?? headers[name] ?? '';
  return { ...delivery, headers };
}

function writtenAgain(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    check(false, 'body must be JSON');
  }
}
