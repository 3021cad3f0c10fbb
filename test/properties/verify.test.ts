import fc from 'fast-check';
import { isWebhookError, sign, type VerifyInput, verify, verifyAsync, verifySignature } from 'service-webhooks';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { NOW, now, SECRET, verdict } from '../support/deliveries.js';
import { bodies, bytes, events, headerValues, inputs, macOf, skews } from './arbitraries.js';
import { holds, options } from './holds.js';

describe('verify with any input', () => {
  it('every error is a WebhookError', options, () =>
    holds([headerValues(), headerValues(), bytes()], (v2, legacy, body) => {
      const headers = { 'x-service-signature-v2': v2, 'x-service-signature': legacy } as VerifyInput['headers'];
      for (const call of [verify, verifySignature]) {
        expectOnlyWebhookErrors(() => call({ headers, body, secret: SECRET, now, legacy: 'accept' }));
      }
    }),
  );

  it('verifyAsync agrees about verdict, code and message', options, () =>
    holds([inputs()], async (input) => {
      const sync = await outcomeOf(async () => verify(input));
      expect(await outcomeOf(() => verifyAsync(input))).toEqual(sync);
    }),
  );

  it('verifySignature agrees about the signature', options, () =>
    holds([inputs()], async (input) => {
      const code = await verdict(() => verify(input));
      const signature = await verdict(() => verifySignature(input));
      const envelope = ['invalid_encoding', 'invalid_json', 'invalid_envelope'].includes(code);
      const tooOld = code === 'timestamp_too_old' && signature === 'legacy';
      if (!envelope && !tooOld) expect(signature).toBe(code);
      else expect(['v2', 'legacy']).toContain(signature);
    }),
  );

  it('the event is what JSON.parse reads, and signedAt is t', options, () =>
    holds([events(), skews()], (event, skew) => {
      const body = JSON.stringify(event);
      const t = NOW / 1000 + skew;
      const headers = { 'x-service-signature-v2': `t=${t},v1=${macOf(SECRET, `${t}.${body}`)}` };
      const delivery = verify({ headers, body, secret: SECRET, now });
      expect(delivery.event).toEqual(JSON.parse(body));
      expect(delivery.signedAt).toBe(t * 1000);
      expect(Buffer.from(delivery.body).toString()).toBe(body);
    }),
  );

  it('text and its bytes get the same verdict', options, () =>
    holds([fc.oneof(bodies(), fc.string({ unit: 'grapheme' }), fc.json())], async (text) => {
      const encoded = new TextEncoder().encode(text);
      const headers = sign({ body: text, secret: SECRET, at: NOW });
      const verdictOn = (body: VerifyInput['body']) => verdict(() => verify({ headers, body, secret: SECRET, now }));
      const [first, ...others] = await Promise.all(
        [text, encoded, Buffer.from(encoded), encoded.buffer].map(verdictOn),
      );
      expect(others).toEqual(Array(3).fill(first));
    }),
  );
});

function expectOnlyWebhookErrors(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    expect(isWebhookError(error), String(error)).toBe(true);
  }
}

async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { accepted: await call() };
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

describe('verifyAsync on WebCrypto alone', () => {
  let web: typeof import('../../src/index.js');

  beforeAll(async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    vi.resetModules();
    web = await import('../../src/index.js');
    vi.resetModules();
  });

  it('the result is that of verify on node:crypto', options, () =>
    holds([inputs()], async (input) => {
      const sync = await outcomeOf(async () => verify(input));
      expect(await outcomeOf(() => web.verifyAsync(input))).toEqual(sync);
    }),
  );
});
