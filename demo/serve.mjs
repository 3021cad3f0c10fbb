import { sign } from 'service-webhooks';
import { newEvent } from './events.mjs';
import { listen } from './loopback.mjs';
import { createApp } from './receiver.mjs';
import { toCurl } from './sender.mjs';

/** Leaves a receiver up, with the real clock, and says how to send to it. Ctrl+C ends it. */
export async function serve(secret) {
  const app = createApp({ secret, now: Date.now, ran() {}, observe: log });
  app.get('/', (_req, res) => res.type('text').send(`${curlLine()}\n`));
  const { address, close } = await listen(app);

  console.log(`
A receiver is up at ${address}/webhooks. Ctrl+C ends it.

Paste this into another terminal within 5 minutes:

${curlLine()}

Sent once more it is a duplicate, with a letter changed it is refused, after 5 minutes it is too old.
A new line at any time:   curl -sS --noproxy '*' ${address}
Made and sent at once:    curl -sS --noproxy '*' ${address} | sh
`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, close);

  function curlLine() {
    const body = JSON.stringify(newEvent('generation.completed', Date.now()));
    const headers = { 'content-type': 'application/json', ...sign({ body, secret, scheme: 'v2' }) };
    return toCurl(`${address}/webhooks`, { headers, body });
  }
}

/** What an operator would have in the log; the sender is told no more than the code. */
function log({ kind, delivery, error }) {
  console.log(
    error ? `${kind}: ${error.message}. ${error.hint}` : `${kind}: ${delivery.event.type} ${delivery.event.id}`,
  );
}
