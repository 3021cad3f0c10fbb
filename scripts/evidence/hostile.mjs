// Inputs made to be slow, each for any size. What comes in is bounded (4,096 characters of header, 5 MiB of body); these
// ask what it costs on the way there.

import { eventText } from './event-text.mjs';

const V2 = 'x-service-signature-v2';
const fill = (part, size) => part.repeat(Math.ceil(size / part.length)).slice(0, size);
const header = (value) => ({ [V2]: value });

/** Headers of about `size` characters in their signature. */
export const hostileHeaders = {
  'header: elements without end': (size) => header(fill('a=,', size)),
  'header: signatures that are none': (size) => header(fill('v1=,', size)),
  'header: signatures one digit short': (size) => header(fill(`v1=${'a'.repeat(63)},`, size)),
  'header: one long signature': (size) => header(`v1=${'a'.repeat(size - 3)}`),
  'header: one long element': (size) => header(fill('v2=x', size)),
  'header: equals signs': (size) => header(fill('=', size)),
  'header: white space at the end': (size) => header(`a=${' '.repeat(size - 3)}x`),
  'header: a long time': (size) => header(`t=${'1'.repeat(size - 70)},v1=${'a'.repeat(64)}`),
};

/** About `size` characters of elements behind good ones; what is measured stays below the limits of their number. */
export const hostileElements = {
  'elements: one long unknown one': (size) => `v2=${fill('x', size)}`,
  'elements: one long signature': (size) => `v1=${fill('0', size)}`,
  'elements: many equals signs': (size) => fill('=', size),
};

/** `size` headers; 512 is what fits Node's 16 KiB where each has a name of some length. */
export const manyHeaders = {
  'headers: many others, as an object': (size) =>
    Object.fromEntries(Array.from({ length: size }, (_, i) => [`x-service-signature-${i}`, 'x'])),
  'headers: many others, as pairs': (size) =>
    Array.from({ length: size }, (_, i) => [`x-service-signature-v${i}`, 'x']),
  'headers: the same one many times': (size) => Array.from({ length: size }, () => [V2, 'v1=']),
};

/** An event with a value in its data that is not made by JSON.stringify. */
const around = (text) => eventText({ data: { x: 0 } }).replace('"x":0', () => `"x":${text}`);
const nested = (open, close, size) => {
  const depth = Math.floor(size / (open.length + close.length));
  return `${open.repeat(depth)}0${close.repeat(depth)}`;
};
const keys = (count, keyOf) => `{${Array.from({ length: count }, (_, i) => `"${keyOf(i)}":0`).join(',')}}`;

/** Bodies of about `size` bytes. */
export const hostileBodies = {
  'body: arrays opened': (size) => fill('[', size),
  'body: objects opened': (size) => fill('{"":', size),
  'body: arrays in arrays': (size) => around(nested('[', ']', size)),
  'body: objects in objects': (size) => around(nested('{"a":', '}', size)),
  'body: many keys': (size) => around(keys(size / 12, (i) => `key${i}`)),
  'body: one key many times': (size) => around(keys(size / 6, () => '')),
  'body: many numbers as keys': (size) => around(keys(size / 12, (i) => i * 4099)),
  'body: numbers as keys, falling': (size) => around(keys(size / 12, (i) => 4_294_967_294 - i * 4099)),
  'body: __proto__ many times': (size) => around(keys(size / 14, () => '__proto__')),
  'body: a long text': (size) => around(`"${fill('a', size)}"`),
  'body: escapes': (size) => around(`"${fill('\\u0061', size - (size % 6))}"`),
  'body: halves of surrogates': (size) => around(`"${fill('\\ud800', size - (size % 6))}"`),
  'body: a long number': (size) => around(fill('1', size)),
  'body: a long fraction': (size) => around(`0.${fill('1', size)}`),
  'body: a long exponent': (size) => around(`1e${fill('1', size)}`),
  'body: many small values': (size) => around(`[${fill('0,', size - (size % 2))}0]`),
  'body: white space': (size) => `${fill(' \t\r\n', size)}${eventText()}`,
  'body: wrong at its end': (size) => `${around(`"${fill('a', size)}"`)}x`,
  'body: no UTF-8 at its end': (size) => `${eventText()}${fill(' ', size)}\xff`,
  'body: a long id': (size) => eventText({ id: `evt_${fill('a', size)}` }),
  'body: a long version': (size) => eventText({ version: `2026-07-12${fill('0', size)}` }),
  'body: a timestamp with a long fraction': (size) =>
    eventText({ timestamp: `2026-07-11T00:00:00.${fill('1', size)}Z` }),
  'body: the same, wrong at its end': (size) => eventText({ timestamp: `2026-07-11T00:00:00.${fill('1', size)}x` }),
};

/** Bodies of `size` chunks. */
export const hostileStreams = {
  'stream: a byte at a time': (size) => Array.from({ length: size }, () => Buffer.from(' ')),
  'stream: empty chunks': (size) => [...Array.from({ length: size }, () => Buffer.alloc(0)), Buffer.from(eventText())],
};
