import { check } from '../../check.js';
import { exactBytes } from '../../http.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/** More than one argument of a command may have; what `printf` is given goes through no argument. */
const MAX_ARGUMENT = 100_000;

/**
 * A delivery as one command for a shell (`sh`, `bash`, `zsh`), whatever bytes it has. The answer is shown with its
 * headers. It holds signatures but no secret, and is refused 300 s after it was signed.
 *
 * @throws WebhookError `invalid_option` for a URL that is not http(s), and for a header that is not plain ASCII
 * @example
 * console.log(toCurl(delivery, 'http://localhost:3000/webhooks'));
 */
export function toCurl({ headers, body }: DeliveryRequest, url: string | URL): string {
  check(URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol), 'url must be http or https');
  const bytes = exactBytes(body);
  const plain = bytes.length < MAX_ARGUMENT && bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  const command = ['curl -i -g', `--url ${quote(new URL(url).href)}`, ...Object.entries(headers).map(headerOption)];
  return plain
    ? [...command, `--data-raw ${quote(new TextDecoder().decode(bytes))}`].join(' ')
    : `printf ${quote(toFormat(bytes))} | ${[...command, '--data-binary @-'].join(' ')}`;
}

function headerOption([name, value]: [string, string]): string {
  check(/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[ -~]*$/.test(value), 'headers must be plain ASCII');
  return `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`; // a colon with nothing behind it removes it
}

/** In single quotes a shell reads nothing but the next single quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A format of `printf` that is these bytes: octal where they are not printable, or mean something to it. */
function toFormat(bytes: Uint8Array): string {
  return Array.from(bytes, (byte, i) => {
    const character = String.fromCharCode(byte);
    const special = /[^ -~]|[%\\]/.test(character) || (i === 0 && character === '-');
    return !special ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  }).join('');
}
