const { createReceiver } = require('service-webhooks');
const { sampleEvent, signDelivery, tamper } = require('service-webhooks/testing');
const { matchers } = require('service-webhooks/testing/matchers');

expect.extend(matchers);

const secret = 'whsec_jest';
const aDelivery = () => signDelivery({ event: sampleEvent('stt.completed'), secret });

test('the package is CommonJS here', () => {
  expect(require.resolve('service-webhooks')).toMatch(/index\.cjs$/);
});

test('a signed delivery is handled once', async () => {
  const handler = jest.fn();
  const receiver = createReceiver({ secret, on: { 'stt.completed': handler } });
  const delivery = aDelivery();
  await expect(receiver(delivery)).toAcknowledge();
  await expect(receiver(delivery)).toAcknowledge();
  expect(handler).toHaveBeenCalledTimes(1);
});

test('a changed delivery is refused', async () => {
  const receiver = createReceiver({ secret });
  await expect(receiver(tamper.stale(aDelivery()))).toRefuseWith('timestamp_too_old');
  await expect(receiver(tamper.stale(aDelivery()))).not.toAcknowledge();
});

// Fails, and the test that runs this one looks at how.
test('a matcher that does not hold says what the answer is', async () => {
  await expect(createReceiver({ secret })(aDelivery())).toRefuseWith('signature_mismatch');
});
