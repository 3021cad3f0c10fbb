// Sends deliveries to a bundled worker in a process whose crypto is WebCrypto alone, and prints what came back.
import { createHmac } from 'node:crypto';

process.getBuiltinModule = undefined;
const { default: app, handledSoFar, secret, verify } = await import(process.argv[2]);

// Signed by hand: nothing of the package but the bundle is loaded.
const body = JSON.stringify({
  id: 'evt_1',
  type: 'stt.completed',
  version: '2026-07-11',
  jobId: 'clip_1',
  data: { clipId: 'clip_1' },
  timestamp: new Date().toISOString(),
});
const t = Math.floor(Date.now() / 1000);
const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
const headers = { 'content-type': 'application/json', 'x-service-signature-v2': `t=${t},v1=${v1}` };

const send = async (path, text) => {
  const response = await app.request(path, { method: 'POST', headers, body: text });
  const { outcome, error } = await response.json();
  return `${response.status} ${outcome ?? error.code}`;
};

const seen = {};
try {
  verify({ headers, body, secret });
} catch (error) {
  seen.verify = error.code;
}
for (const path of ['/fetch', '/hono', '/hono/middleware']) {
  seen[path] = [await send(path, body), await send(path, body), await send(path, body.replace('clip_1', 'clip_2'))];
}
console.log(JSON.stringify({ ...seen, handled: handledSoFar() }));
