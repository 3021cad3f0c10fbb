import type { Secret } from 'service-webhooks';
import { eventJson, sampleEvent, signDelivery } from 'service-webhooks/testing';
import { answerCode, titleOf } from '../http/answer.js';
import { type DeliverOptions, deliver, deliverAsService, type Outgoing, type SendResult } from '../http/deliver.js';

/** The app to ask, and how. */
export interface AskedApp extends DeliverOptions, Pick<Outgoing, 'insecure'> {
  url: URL;
}

/**
 * Resolves to whether the app verifies what a parser has left of the body: then its answers to one event with and without
 * spaces in its JSON differ. `unknown`: it does not answer as before. The event has a type of its own, so that no handler
 * of the app's own events runs.
 */
export async function compareForms(
  app: AskedApp,
  refused: SendResult,
  signing: { secret: Secret; headerPrefix: string },
): Promise<'differ' | 'same' | 'unknown'> {
  const event = {
    ...sampleEvent('stt.completed', { id: `evt_doctor_${crypto.randomUUID()}` }),
    type: 'doctor.compared',
  };
  const answerTo = async (body: string) =>
    deliverAsService({ ...signDelivery({ ...signing, body }), insecure: app.insecure }, app.url, app);
  const compact = await answerTo(JSON.stringify(event));
  if (isSameAnswer(compact, refused)) return 'same';
  // An app that fails or limits requests says nothing about the signature.
  if (compact.status === undefined || compact.status === 429 || compact.status >= 500) return 'unknown';
  return isSameAnswer(await answerTo(eventJson(event)), refused) ? 'differ' : 'unknown';
}

/** Resolves to whether the app answers in the same way at a path that it cannot have. */
export async function refusesEverywhere(app: AskedApp, refused: SendResult): Promise<boolean> {
  const url = new URL(`doctor-${crypto.randomUUID()}`, app.url);
  const outgoing = {
    method: 'POST',
    headers: [['Content-Type', 'application/json']] as const,
    body: Buffer.from('{}'),
  };
  return isSameAnswer(await deliver({ ...outgoing, url, insecure: app.insecure }, app), refused);
}

/** Resolves to the title of the app's home page; undefined where it has none. */
export async function homeTitle(app: AskedApp): Promise<string | undefined> {
  const url = new URL('/', app.url);
  const home = await deliver({ method: 'GET', url, headers: [], body: Buffer.of(), insecure: app.insecure }, app);
  return home.status === undefined ? undefined : titleOf(home.body);
}

function isSameAnswer(one: SendResult, other: SendResult): boolean {
  if (one.status === undefined || other.status === undefined) return false;
  return one.status === other.status && answerCode(one.body) === answerCode(other.body);
}
