import { sign } from 'service-webhooks';

/**
 * The body and headers of one attempt, as the service sends them (its specification, section 6.2). `signedBy` and
 * `at` (ms) are what the signature is made with.
 */
export function delivery(event, { signedBy, at, attempt = 1 }) {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      ...sign({ body, secret: signedBy, at }),
      'x-service-timestamp': String(Math.floor(at / 1000)),
      'x-service-webhook-id': 'wh_demo',
      'x-service-attempt': String(attempt),
      'idempotency-key': `key_of_${event.id}`,
      'content-type': 'application/json',
    },
  };
}

/** Sends it, and gives the status with the outcome or the error code that the answer's body names. */
export async function send(url, { headers, body }) {
  const response = await fetch(url, { method: 'POST', headers, body });
  const { outcome, error } = await response.json();
  return `${response.status} ${outcome ?? error.code}`;
}

/** The same as one line for a POSIX shell. */
export function toCurl(url, { headers, body }) {
  const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const options = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return [`curl -sS --noproxy '*' -w '\\n' ${quote(url)}`, ...options, `--data-binary ${quote(body)}`].join(' ');
}
