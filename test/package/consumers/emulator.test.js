const { createReceiver } = require('service-webhooks');
const { webhookHandler } = require('service-webhooks/fetch');
const { createEmulator } = require('service-webhooks-emulator');

test('the emulator is CommonJS here', () => {
  expect(require.resolve('service-webhooks-emulator')).toMatch(/index\.cjs$/);
});

test('a refused delivery is repeated until it is acknowledged', async () => {
  const handler = jest.fn().mockRejectedValueOnce(new Error('the database is away'));
  const emulator = createEmulator({ fetch: (request) => receive(request) });
  const { signingSecret: secret } = emulator.endpoints.create({ url: 'https://app.example/webhooks' });
  const receive = webhookHandler(
    createReceiver({ secret, now: emulator.now, logger: false, on: { 'stt.completed': handler } }),
  );
  await emulator.emit('stt.completed');
  await emulator.runUntilIdle();
  expect(handler).toHaveBeenCalledTimes(2);
  expect(emulator.totals).toMatchObject({ attempts: 2 });
  await emulator.close();
});
