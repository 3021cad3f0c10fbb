import { deliver } from '../../../wire/deliver.js';
import { EXIT, type ExitCode, Failure } from '../../failure.js';
import type { Session } from '../../session.js';
import { DEV_KEY, EVENTS_PATH } from './dev-address.js';

/** Has a running `dev` emit an event, which it delivers with its retries. @throws Failure where no `dev` takes it */
export async function emitInto(session: Session, dev: URL, event: object): Promise<ExitCode> {
  const url = new URL(EVENTS_PATH, dev);
  const headers = [
    ['Content-Type', 'application/json'],
    ['X-Api-Key', DEV_KEY],
  ] as const;
  const outgoing = { method: 'POST', url, headers, body: Buffer.from(JSON.stringify(event)) };
  const sent = await deliver(outgoing, { timeoutMs: 10_000, signal: session.signal });
  if (sent.status === undefined) throw new Failure('network', `${sent.problem} Is dev running there?`);
  const { error, id, type, deliveries } = parsed(sent.body);
  if (sent.status === 422) throw new Failure('usage', `dev refuses the event: ${error}`);
  if (sent.status !== 200 || !Array.isArray(deliveries)) {
    throw new Failure('network', `${dev.host} is no dev of this version: it answered ${sent.status}.`);
  }
  const isDelivered = deliveries.length > 0;
  session.out.record({ kind: 'emitted', type, id, dev: dev.href, deliveries }, [
    isDelivered ? ['good', 'emitted'] : ['warn', 'no endpoint has subscribed to it'],
    String(type),
    String(id),
    isDelivered && `${dev.host} delivers it with retries`,
  ]);
  return isDelivered ? EXIT.ok : EXIT.no;
}

function parsed(text: string): { [name: string]: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
