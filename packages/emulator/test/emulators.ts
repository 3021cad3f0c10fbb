import { createEmulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { onTestFinished } from 'vitest';

export const START = Date.UTC(2026, 6, 11, 9);
export const HOOK = 'https://app.example/webhooks';

/** An emulator that lives as long as the test. Its receiver runs in the same process and fails unless it is changed. */
export function startEmulator(options: EmulatorOptions = {}) {
  const receiver = { status: 500, requests: [] as Request[] };
  const emulator = createEmulator({
    startAt: START,
    seed: 'emulator',
    fetch(request) {
      receiver.requests.push(request);
      return new Response(null, { status: receiver.status });
    },
    ...options,
  });
  onTestFinished(() => emulator.close());
  return { emulator, receiver };
}

/** Such an emulator with an endpoint that has subscribed to every event. */
export function startWithEndpoint(options: EmulatorOptions = {}) {
  const { emulator, receiver } = startEmulator(options);
  const { id, signingSecret: secret } = emulator.endpoints.create({ url: HOOK });
  return { emulator, receiver, id, secret };
}

/** A receiver that answers when the test calls the next of its `answers`. */
export function createWaitingReceiver() {
  const answers: ((response: Response) => void)[] = [];
  return { answers, fetch: () => new Promise<Response>((resolve) => answers.push(resolve)) };
}
