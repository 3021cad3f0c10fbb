import { toCurl } from 'service-webhooks/testing';
import { OF_CONNECTION } from '../../http/deliver.js';
import { formatHttp } from '../../http/http-message.js';
import { jsonFields } from '../../http/json-fields.js';
import type { SentMessage } from '../page-source.js';

/** The forms in which a request can be taken along. */
const EXPORT_FORMS = ['http', 'curl', 'test'] as const;

export type ExportForm = (typeof EXPORT_FORMS)[number];

export function isExportForm(text: string): text is ExportForm {
  return (EXPORT_FORMS as readonly string[]).includes(text);
}

/** A request in one of the forms, with the name of the file for it. */
export interface ExportedRequest {
  name: string;
  content: Buffer;
}

/** Returns the request with that id as a file, as a command, or as a test that reads the file. */
export function exportRequest(form: ExportForm, id: string, message: SentMessage): ExportedRequest {
  const name = fileName(id, message.at);
  if (form === 'http') return { name, content: formatHttp(message) };
  const text = form === 'curl' ? curlOf(message) : testOf(name, message);
  return { name: name.replace('.http', form === 'curl' ? '.sh' : '.test.ts'), content: Buffer.from(text) };
}

/** As `listen` names its captures, so that `verify` and `explain` look at it as of when it came. */
function fileName(id: string, at: number): string {
  const hex = (Number.parseInt(id, 10) >>> 0).toString(16).padStart(8, '0');
  return `${new Date(at).toISOString().replaceAll(/[-:]/g, '')}-${hex}.http`;
}

function curlOf({ headers, body, url }: SentMessage): string {
  // A header that is not plain text could act on the terminal that it is pasted into.
  const kept = headers.filter(
    ([name, value]) =>
      !OF_CONNECTION.includes(name.toLowerCase()) && /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[ -~]*$/.test(value),
  );
  return toCurl({ method: 'POST', headers: Object.fromEntries(kept), body }, url);
}

function testOf(name: string, { body }: SentMessage): string {
  return `import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createReceiver } from 'service-webhooks';
import { readDelivery } from 'service-webhooks/testing';

test(${JSON.stringify(`${typeOf(body)} is accepted`)}, async () => {
  const delivery = readDelivery(readFileSync('test/${name}'));
  const now = () => delivery.at ?? Date.now();
  const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET ?? '', on: {}, now });
  assert.equal((await receiver(delivery)).status, 200);
});
`;
}

/** What the event calls itself, as far as that is plain: it comes from the network, and the test is run. */
function typeOf(body: Uint8Array): string {
  const { type } = jsonFields(body);
  return typeof type === 'string' && /^[\w.-]{1,80}$/.test(type) ? type : 'the delivery';
}
