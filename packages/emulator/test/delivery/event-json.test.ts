import { isWebhookError, verify } from 'service-webhooks';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { expect, it } from 'vitest';
import { HOOK, startEmulator } from '../emulators.js';

const secret = 'whsec_of_this_test';

/** An app behind express.json(), which verifies JSON.stringify(req.body). */
function answerOf(headers: Headers | Record<string, string>, body: string, now: () => number): number {
  try {
    verify({ headers, body: JSON.stringify(JSON.parse(body)), secret, now });
    return 200;
  } catch (error) {
    return isWebhookError(error) ? error.status : 500;
  }
}

it.each(['stt.completed', 'a.type.of.tomorrow'])(
  'an app that verifies JSON.stringify(req.body) refuses the event %s of the emulator, as in production',
  async (type) => {
    const bodies: string[] = [];
    const { emulator } = startEmulator({
      async fetch(request) {
        bodies.push(await request.clone().text());
        return new Response(null, { status: answerOf(request.headers, await request.text(), emulator.now) });
      },
    });
    emulator.endpoints.create({ url: HOOK, events: [type], signingSecret: secret });
    await emulator.emit(type);
    await emulator.settled();
    expect(emulator.attempts.list()).toMatchObject([{ outcome: 'failed', answer: { status: 401 } }]);
    expect(bodies[0]).toMatch(/^\{ "id": "evt_\w+", "type": /);
  },
);

it('an app that verifies JSON.stringify(req.body) refuses the deliveries of the test kit', () => {
  const { headers, body, at } = signDelivery({ event: sampleEvent('stt.completed'), secret });
  expect(answerOf(headers, new TextDecoder().decode(body), () => at)).toBe(401);
});
