// Uses the emulator, the explanation and the suites as a project's tests would, and prints what came of it.
import { memoryStore } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { explain } from 'service-webhooks-cli/explain';
import { createEmulator } from 'service-webhooks-emulator';
import { storeSuite } from 'service-webhooks-suites';

async function main() {
  let calls = 0;
  const fail = () => {
    calls++;
    if (calls === 1) throw new Error('the first attempt fails');
  };
  const emulator = createEmulator({ fetch: (request) => receive(request) });
  const { signingSecret: secret } = emulator.endpoints.create({ url: 'https://app.example/webhooks' });
  const receive = webhookHandler({ secret, now: emulator.now, logger: false, on: { '*': fail } });
  await emulator.emit('stt.completed');
  await emulator.runUntilIdle();
  const [delivery] = emulator.deliveries.list();
  await emulator.close();

  const { headers, body } = tamper.stale(signDelivery({ event: sampleEvent('stt.completed'), secret }));
  const { verdict } = explain({ headers, body, secret });

  const cases = storeSuite({ make: () => ({ store: memoryStore() }) }).filter(({ group }) => group === 'states');
  const passed = [];
  for (const { name, run } of cases) {
    await run();
    passed.push(name);
  }
  console.log(JSON.stringify({ calls, state: delivery.state, verdict, passed: passed.length > 0 }));
}

void main();
