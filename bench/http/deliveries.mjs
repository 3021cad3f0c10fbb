import { randomBytes } from 'node:crypto';
import { entryOf } from '../library.mjs';
import { SECRET } from './servers.mjs';

const { sign } = await entryOf('index');
const HOUR = 3_600_000;
let made = 0;

/** A new event of so many bytes, as a whole HTTP request. `kind`: good, forged, stale or unsigned. */
export function aRequest(size = 1024, kind = 'good') {
  made += 1;
  const id = `evt_01J2Q4Z8R6N3W5Y7T9V1${String(made).padStart(8, '0')}`;
  const event = {
    id,
    type: 'stt.completed',
    version: '2026-07-11',
    jobId: 'clip_42',
    data: { text: '' },
    timestamp: new Date().toISOString(),
  };
  event.data.text = 'some words '.repeat(size / 11 + 1).slice(0, size - JSON.stringify(event).length);
  const body = Buffer.from(JSON.stringify(event));
  const headers = {
    host: '127.0.0.1',
    'user-agent': 'service',
    'content-type': 'application/json',
    'content-length': body.length,
    'idempotency-key': id,
    'x-service-webhook-id': 'wh_1',
    'x-service-attempt': '1',
    ...(kind === 'unsigned' ? {} : sign({ body, secret: SECRET, at: Date.now() - (kind === 'stale' ? HOUR : 0) })),
  };
  if (kind === 'forged') {
    const name = 'x-service-signature-v2';
    headers[name] = headers[name].replace(/[0-9a-f]{64}$/, randomBytes(32).toString('hex'));
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST /webhooks HTTP/1.1\r\n${head.join('')}\r\n`), body]);
}
