import { exactBytes } from '../bytes.js';
import { check, checkObject } from '../option-checks.js';
import { type DeliveryRequest, keptOutOfSpreads, type SignedDelivery, type SigningOptions } from './sign-delivery.js';

/**
 * Functions that return a delivery with one defect, for tests. They can be nested in any order.
 *
 * @throws WebhookError `invalid_option` for a delivery that cannot have the defect
 * @example
 * await expect(receiver(tamper.flippedBit(delivery))).toRefuseWith('signature_mismatch');
 */
export const tamper = {
  /** Flips one bit of the body, counted from the lowest bit of the first byte. Default: bit 0. */
  flippedBit<D extends DeliveryRequest>(delivery: D, bit = 0): D {
    const body = new Uint8Array(bytesOf(delivery));
    const byte = body[Math.floor(bit / 8)];
    check(Number.isInteger(bit) && byte !== undefined, 'bit must be one of the body');
    body[Math.floor(bit / 8)] = byte ^ (1 << (bit % 8));
    return altered(delivery, { body });
  },

  /** Signs the delivery validly, `seconds` before its own time. Default: 600. */
  stale: <D extends SignedDelivery>(delivery: D, seconds = 600): D => moved(delivery, -seconds),

  /** Signs the delivery validly, `seconds` after its own time. Default: 600. */
  future: <D extends SignedDelivery>(delivery: D, seconds = 600): D => moved(delivery, seconds),

  /** Signs the delivery with another secret. */
  wrongSecret: <D extends SignedDelivery>(delivery: D): D => signedWith(delivery, { secret: 'a guess at the secret' }),

  /** Removes the V2 signature and leaves the legacy one, as an attacker would. */
  strippedV2<D extends DeliveryRequest>(delivery: D): D {
    const kept = headersOf(delivery).filter(([name]) => !/-signature-v2$/i.test(name));
    return altered(delivery, { headers: Object.fromEntries(kept) });
  },

  /** Changes the Idempotency-Key, which no signature covers. The delivery stays valid and is of the same event. */
  changedIdempotencyKey<D extends DeliveryRequest>(delivery: D, key = 'another-key'): D {
    const others = headersOf(delivery).filter(([name]) => name.toLowerCase() !== 'idempotency-key');
    return altered(delivery, { headers: { ...Object.fromEntries(others), 'idempotency-key': key } });
  },

  /** Replaces the body with `JSON.stringify(JSON.parse(body))`, the most frequent mistake of receivers. */
  reserialisedBody<D extends DeliveryRequest>(delivery: D): D {
    const text = new TextDecoder().decode(bytesOf(delivery));
    const written = writtenAgain(text);
    check(written !== text, 'body is already what JSON.stringify makes: sign an event, or another spelling');
    return altered(delivery, { body: new TextEncoder().encode(written) });
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
  return altered(signedWith(delivery, { at }), { at });
}

/** Replaces the signatures that are present. A defect that was added before stays. */
function signedWith<D extends SignedDelivery>(delivery: D, changes: Partial<SigningOptions>): D {
  check(typeof delivery?.again === 'function', 'delivery must be one that signDelivery made');
  const signed = delivery.again({ at: delivery.at, ...changes }).headers;
  const headers = { ...delivery.headers };
  for (const name in headers)
    if (/-(signature(-v2)?|timestamp)$/.test(name)) headers[name] = signed[name] ?? headers[name] ?? '';
  return altered(delivery, { headers });
}

/** Returns a copy with changes. It has all properties of the delivery, also those that a spread leaves out. */
function altered<D extends DeliveryRequest>(delivery: D, changes: Partial<SignedDelivery>): D {
  const names = Object.getOwnPropertyNames(delivery) as (keyof D)[];
  const hidden = names.filter((name) => !Object.prototype.propertyIsEnumerable.call(delivery, name));
  const copy = { ...delivery };
  for (const name of hidden) copy[name] = delivery[name];
  return keptOutOfSpreads({ ...copy, ...changes }, hidden);
}

function writtenAgain(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    check(false, 'body must be JSON');
  }
}
