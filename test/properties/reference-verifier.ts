import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The rules of the V2 header once more, in the plainest words and with nothing of the library: what two readings agree
 * about is not an accident of one.
 *
 * @returns `'v2'`, or the code of the refusal
 */
export function referenceVerdict(header: unknown, body: string | Uint8Array, secret: string, now: number): string {
  if (header === undefined || header === null) return 'missing_signature';
  if (typeof header !== 'string' || header.length > 4096) return 'malformed_signature';
  const elements = header.split(',');
  const times = elements.filter((element) => element.startsWith('t='));
  const macs = elements.filter((element) => element.startsWith('v1='));
  const wellFormed =
    elements.length <= 32 &&
    elements.every((element) => element.includes('=') && !/\s/.test(element)) &&
    times.length === 1 &&
    macs.length <= 8;
  const t = times[0]?.slice(2) ?? '';
  const candidates = macs.map((mac) => mac.slice(3)).filter((hex) => hex.length === 64 && !/[^0-9a-f]/.test(hex));
  if (!wellFormed || t === '' || t.length > 12 || /[^0-9]/.test(t) || String(BigInt(t)) !== t) {
    return 'malformed_signature';
  }
  if (candidates.length === 0) return 'malformed_signature';
  const age = Math.floor(now / 1000) - Number(t);
  if (age > 300) return 'timestamp_too_old';
  if (age < -300) return 'timestamp_in_future';
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  const holds = candidates.some((hex) => timingSafeEqual(Buffer.from(hex, 'hex'), expected));
  return holds ? 'v2' : 'signature_mismatch';
}
