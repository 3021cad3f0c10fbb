import type { Receiver } from 'service-webhooks';
import { vi } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';

/** Data that `JSON.stringify` refuses. */
export const UNSERIALISABLE: readonly (readonly [what: string, data: object])[] = [
  ['that refers to itself', circular()],
  ['with a BigInt', { count: 1n }],
];

function circular(): object {
  const data: { self?: object } = {};
  data.self = data;
  return data;
}

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * Sends a delivery to an app whose route returns an answer: the status that the sender receives, and the decision about
 * the claim, which may come after the body has been read.
 */
export async function whatCameOf(appOf: (receiver: Receiver) => Fetch): Promise<{ status: number; decided: string[] }> {
  const { receiver, answers } = aReceiver({ on: undefined });
  const { method, headers, body } = aRequest();
  const request = new Request('http://receiver.test/webhooks', {
    method,
    headers: headers as Record<string, string>,
    body: body as string,
  });
  const response = await appOf(receiver)(request);
  await response.text().catch(() => {}); // where the body breaks
  await vi.waitUntil(() => answers().length > 0, PATIENTLY);
  return { status: response.status, decided: answers() };
}
