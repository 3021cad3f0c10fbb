import { type EventOf, PAYLOAD_VERSION, sign } from 'service-webhooks';

export const SECRET = 'the secret of the examples';

export function anEvent(id: string): EventOf<'stt.completed'> {
  const timestamp = new Date().toISOString();
  return { id, type: 'stt.completed', version: PAYLOAD_VERSION, jobId: 'clip_1', data: {}, timestamp };
}

/** Body and headers of an attempt of the event, as the service sends it. */
export function aDelivery(id: string, secret = SECRET): [body: string, headers: Record<string, string>] {
  const body = JSON.stringify(anEvent(id));
  return [body, { 'content-type': 'application/json', ...sign({ body, secret }) }];
}
