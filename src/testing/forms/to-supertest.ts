import { exactBytes } from '../../http.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/**
 * A delivery as a plugin for supertest.
 *
 * @example
 * await request(app).post('/webhooks').use(toSupertest(delivery)).expect(200);
 */
export function toSupertest({ headers, body }: DeliveryRequest): (test: SupertestRequest) => void {
  const bytes = Buffer.from(exactBytes(body));
  return (test) => {
    test.set(headers);
    test.serialize(() => bytes as never); // without it, superagent writes the bytes as JSON
    test.send(bytes);
  };
}

/** What is used of supertest's request. */
export interface SupertestRequest {
  set(headers: Record<string, string>): unknown;
  serialize(serializer: (body: unknown) => string): unknown;
  send(body: Uint8Array): unknown;
}
