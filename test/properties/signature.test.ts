import fc from 'fast-check';
import { sign, type VerifyInput, verify, verifyAsync, verifySignature } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { NOW, now, SECRET, verdict } from '../support/deliveries.js';
import { BODY, bytes, headerValues, macOf, nearlyGoodHeaders, secrets, skews } from './arbitraries.js';
import { holds, options } from './holds.js';
import { referenceVerdict } from './reference-verifier.js';

describe('a signature of any body', () => {
  it('any bytes, secret and time within the tolerance are accepted', options, () =>
    holds([bytes(), secrets(), skews(), fc.constantFrom('v2', 'both')], (body, secret, skew, scheme) => {
      const headers = sign({ body, secret, at: NOW + skew * 1000, scheme });
      const signedAt = NOW + skew * 1000;
      expect(verifySignature({ headers, body, secret, now })).toEqual({ scheme: 'v2', signedAt, secretIndex: 0 });
    }),
  );

  it('an independent HMAC of t, a dot and the body is accepted', options, () =>
    holds([bytes(), secrets(), skews()], (body, secret, skew) => {
      const t = String(NOW / 1000 + skew);
      const headers = { 'x-service-signature-v2': `t=${t},v1=${macOf(secret, `${t}.`, body)}` };
      expect(verifySignature({ headers, body, secret, now }).scheme).toBe('v2');
      const legacy = { 'x-service-signature': `sha256=${macOf(secret, body)}` };
      expect(verifySignature({ headers: legacy, body, secret, now, legacy: 'accept' }).scheme).toBe('legacy');
    }),
  );

  it('one flipped bit of the body is refused', options, () =>
    holds(
      [fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), fc.constantFrom('v2', 'legacy')],
      (body, at, scheme) => {
        const headers = sign({ body, secret: SECRET, at: NOW, scheme });
        const bit = at % (body.length * 8);
        const flipped = Uint8Array.from(body);
        flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
        return expectRefused({ headers, body: flipped, secret: SECRET, now, legacy: 'accept' });
      },
    ),
  );

  it('one flipped bit of the header is refused', options, () =>
    holds([fc.nat()], (at) => {
      const [[name, value] = ['', '']] = Object.entries(sign({ body: BODY, secret: SECRET, at: NOW, scheme: 'v2' }));
      const bit = at % (value.length * 8);
      const code = value.charCodeAt(bit >> 3) ^ (1 << (bit & 7));
      const flipped = value.slice(0, bit >> 3) + String.fromCharCode(code) + value.slice((bit >> 3) + 1);
      const signedAt = Number(/\d+/.exec(flipped)?.[0] ?? 0) * 1000;
      return expectRefused({ headers: { [name]: flipped }, body: BODY, secret: SECRET, now: () => signedAt });
    }),
  );

  it('another secret is refused', options, () =>
    holds([secrets(), secrets(), bytes()], (secret, other, body) => {
      fc.pre(!Buffer.from(secret).equals(Buffer.from(other)));
      return expectRefused({ headers: sign({ body, secret, at: NOW }), body, secret: other, now, legacy: 'accept' });
    }),
  );

  it('the verdict is that of a second, plainer reading of the rules', options, () =>
    holds([fc.oneof(nearlyGoodHeaders(), headerValues())], async (value) => {
      const headers = { 'x-service-signature-v2': value } as VerifyInput['headers'];
      const found = await verdict(() => verifySignature({ headers, body: BODY, secret: SECRET, now }));
      expect(found).toBe(referenceVerdict(value, BODY, SECRET, NOW));
    }),
  );

  it('a time outside any tolerance is refused', options, () =>
    holds(
      [fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: -20_000, max: 20_000 })],
      async (toleranceSeconds, skew) => {
        const headers = sign({ body: BODY, secret: SECRET, at: NOW + skew * 1000, scheme: 'v2' });
        const found = await verdict(() => verify({ headers, body: BODY, secret: SECRET, now, toleranceSeconds }));
        const expected =
          skew > toleranceSeconds ? 'timestamp_in_future' : skew < -toleranceSeconds ? 'timestamp_too_old' : 'v2';
        expect(found).toBe(expected);
      },
    ),
  );
});

async function expectRefused(input: VerifyInput): Promise<void> {
  const code = await verdict(() => verifySignature(input));
  expect(code).toMatch(
    /^(signature_mismatch|malformed_signature|timestamp_in_future|timestamp_too_old|missing_signature)$/,
  );
  expect(await verdict(() => verifyAsync(input))).toBe(code);
}
