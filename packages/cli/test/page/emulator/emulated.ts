import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { createEmulator, type EmulatorOptions, type Faults } from 'service-webhooks-emulator';
import { onTestFinished } from 'vitest';
import { NOW } from '../../../../../test/support/deliveries.js';
import { type EmulatorSourceOptions, emulatorSource } from '../../../src/page/emulator/emulator-source.js';

export interface EmulatedOptions extends EmulatorOptions {
  /** Whether the receiver's handler throws. */
  fails?: () => boolean;
  faults?: Faults;
  adviceOn?: EmulatorSourceOptions['adviceOn'];
}

/** An emulator, a real receiver on a port, and what the page shows of them. */
export async function emulated({ fails = () => false, adviceOn, ...options }: EmulatedOptions = {}) {
  const emulator = createEmulator({ allowLoopback: true, startAt: NOW, seed: 'page', ...options });
  onTestFinished(() => emulator.close());
  let secret = 'not yet known';
  const handler = () => {
    if (fails()) throw new Error('the database is down');
  };
  const app = createServer((req, res) => {
    webhookHandler(createReceiver({ secret, now: emulator.now, dedupe: false, on: { '*': handler } }))(req, res);
  });
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void app.close().closeAllConnections());
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/webhooks`;
  const endpoint = emulator.endpoints.create({ url });
  secret = endpoint.signingSecret;
  const source = emulatorSource({
    ...{ emulator, clock: options.clock ?? 'virtual', speed: options.speed, faults: options.faults },
    adviceOn,
    secretOf: (id) => (id === endpoint.id ? secret : undefined),
  });
  return { emulator, source, endpoint, url, secret };
}
