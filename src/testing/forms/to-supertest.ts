import { exactBytes } from '../../bytes.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/**
 * Returns a delivery as a plugin for supertest.
 *
 * @example
 * await request(server).post('/webhooks').use(toSupertest(delivery)).expect(200);
 */
export function toSupertest({ headers, body }: DeliveryRequest): (test: SupertestRequest) => void {
  const bytes = Buffer.from(exactBytes(body));
  return (test) => {
    test.set(headers);
    test.serialize(() => bytes as never); // without it, superagent writes the bytes as JSON
    test.send(bytes);
  };
}

/** The part of supertest's request that is used. */
export interface SupertestRequest {
  set(headers: Record<string, string>): unknown;
  serialize(serializer: (body: unknown) => string): unknown;
  send(body: Uint8Array): unknown;
}
