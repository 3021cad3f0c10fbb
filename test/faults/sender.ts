import { sign } from 'service-webhooks';
import { anEvent, inShort, SECRET } from '../support/deliveries.js';
import { untilAcknowledged } from '../support/until-acknowledged.js';

/** As long as the service waits. */
const TIMEOUT_MS = 20_000;

export const anEventId = (): string => `evt_${crypto.randomUUID()}`;

/** One attempt, and what came of it: status and outcome, or `broken` where the connection was. */
export async function attempt(url: string, id: string, clockMs = 0): Promise<string> {
  const body = JSON.stringify(anEvent({ id }));
  const headers = sign({ body, secret: SECRET, at: Date.now() + clockMs });
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return inShort({ status: response.status, headers: {}, body: await response.text() });
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'no answer in time' : 'broken';
  }
}

export const isAcknowledged = (answer: string): boolean => answer.startsWith('2');

/** One attempt after the other until the event is acknowledged, and what came of each. */
export const deliver = (nextUrl: () => string, id: string): Promise<string[]> =>
  untilAcknowledged(() => attempt(nextUrl(), id));
