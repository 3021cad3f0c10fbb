import fc from 'fast-check';
import { createReceiver, ERRORS, sign, verify, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { inShort, NOW, now, SECRET, verdict } from '../support/deliveries.js';
import { BODY, bytes, events, headers } from './arbitraries.js';
import { holds, options } from './holds.js';

describe('the answer of a receiver', () => {
  const receiver = createReceiver({ secret: SECRET, now, dedupe: false, on: { '*': () => {} }, maxBodyBytes: 500 });

  it('the chunks of a body do not matter', options, () =>
    holds(
      [
        fc.oneof(
          events().map((event) => JSON.stringify(event)),
          fc.string(),
        ),
        fc.array(fc.nat(), { maxLength: 10 }),
      ],
      async (body, cuts) => {
        const request = { method: 'POST', headers: sign({ body, secret: SECRET, at: NOW }) };
        const all = new TextEncoder().encode(body);
        const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
        async function* chunks() {
          for (const [i, place] of places.entries()) yield all.subarray(place, places[i + 1] ?? all.length);
        }
        expect(await receiver({ ...request, body: chunks() })).toEqual(await receiver({ ...request, body: all }));
      },
    ),
  );

  it('the status is that of the error of verify, or 200', options, () =>
    holds([headers(), fc.oneof(fc.constant(BODY), bytes(), fc.string({ unit: 'binary' }))], async (sent, body) => {
      const settings = { secret: SECRET, now, legacy: 'accept' } as const;
      const lenient = createReceiver({ ...settings, logger: false, dedupe: false, on: { '*': () => {} } });
      const answer = inShort(await lenient({ method: 'POST', headers: sent, body }));
      const found = await verdict(() => verify({ ...settings, headers: sent, body }));
      const code = found as WebhookErrorCode;
      expect(answer).toBe(found === 'v2' || found === 'legacy' ? '200 handled' : `${ERRORS[code].status} ${code}`);
    }),
  );
});
