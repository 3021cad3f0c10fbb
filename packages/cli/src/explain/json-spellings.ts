/** A way to write JSON: its name in a sentence ("written …"), and its result for a value or a text. */
type Style<From> = readonly [name: string, write: (from: From) => string];

const LAYOUTS: readonly Style<unknown>[] = [
  ['without white space', (value) => JSON.stringify(value)],
  ['with a space after each colon and comma', (value) => pythonLayout(JSON.stringify(value, null, 1))],
  ['with spaces between its parts', (value) => JSON.stringify(value, null, 1).replace(/\n */g, ' ')],
  ['indented by 2', (value) => JSON.stringify(value, null, 2)],
  ['indented by 4', (value) => JSON.stringify(value, null, 4)],
  ['indented by tabs', (value) => JSON.stringify(value, null, '\t')],
];

/** These characters occur in strings only, so that they can be replaced in the text. */
const ESCAPES: readonly Style<string>[] = [
  ['with \\/ for slashes', (text) => text.replaceAll('/', '\\/')],
  ['in ASCII alone', (text) => text.replace(/[\x7f-\uffff]/g, hexEscape)],
  ['in ASCII alone, in upper-case hex', (text) => text.replace(/[\x7f-\uffff]/g, upperHexEscape)],
  ['in ASCII alone, with \\/ for slashes', (text) => text.replaceAll('/', '\\/').replace(/[\x7f-\uffff]/g, hexEscape)],
  ['with <, > and & escaped', (text) => text.replace(/[<>&\u2028\u2029]/g, hexEscape)],
  [
    'with <, >, &, + and quotes escaped, in ASCII alone',
    (text) =>
      text.replace(/\\\\|[<>&+'\x7f-\uffff]|\\"/g, (found) => (found === '\\\\' ? found : upperHexEscape(found))),
  ],
];

const NUMBERS: readonly Style<string>[] = [
  [
    'with .0 at whole numbers',
    (text) => eachNumber(text, (number) => (/^-?\d+$/.test(number) ? `${number}.0` : number)),
  ],
  ['with two decimals', (text) => eachNumber(text, (number) => padded(number, 2))],
  ['with two decimals at fractions', (text) => eachFraction(text, 2)],
  ['with three decimals at fractions', (text) => eachFraction(text, 3)],
  ['with six decimals at fractions', (text) => eachFraction(text, 6)],
];

const ENVELOPE = ['id', 'type', 'version', 'jobId', 'data', 'timestamp'];

const ORDERS: readonly (readonly [name: string, order: (value: unknown) => unknown])[] = [
  ['', (value) => value],
  ['with its keys sorted', (value) => reordered(value, (keys) => keys.toSorted())],
  ['with its keys in the order that the service sends', (value) => reordered(value, inEnvelopeOrder)],
];

/**
 * Yields a JSON value in all the ways in which serialisers write it, the most usual first. Ends early for a value that
 * is nested too deeply to be written.
 */
export function* jsonSpellings(value: unknown): Generator<{ text: string; style: string }> {
  try {
    const plain = JSON.stringify(value);
    for (const [order, reorder] of ORDERS) {
      const ordered = reorder(value);
      if (order !== '' && JSON.stringify(ordered) === plain) continue;
      for (const [layout, lay] of LAYOUTS) {
        for (const [escapes, escaped] of changes(lay(ordered), ESCAPES)) {
          for (const [numbers, text] of changes(escaped, NUMBERS)) {
            yield { text, style: [layout, order, escapes, numbers].filter(Boolean).join(', ') };
          }
        }
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

/** Yields the unchanged text, and the result of each style that changes it. */
function* changes(text: string, styles: readonly Style<string>[]): Generator<readonly [name: string, text: string]> {
  yield ['', text];
  for (const [name, write] of styles) {
    const changed = write(text);
    if (changed !== text) yield [name, changed];
  }
}

/** Splits at line feeds, because no JSON string contains one. */
function pythonLayout(indented: string): string {
  return indented
    .replace(/([[{])\n */g, '$1')
    .replace(/\n *([\]}])/g, '$1')
    .replace(/\n */g, ' ');
}

function eachNumber(text: string, write: (number: string) => string): string {
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : write(token),
  );
}

function eachFraction(text: string, decimals: number): string {
  return eachNumber(text, (number) => (number.includes('.') ? padded(number, decimals) : number));
}

function padded(number: string, decimals: number): string {
  if (!/^-?\d+(\.\d+)?$/.test(number)) return number;
  const [whole, fraction = ''] = number.split('.');
  return `${whole}.${fraction.padEnd(decimals, '0')}`;
}

/** Returns the escape of the last character, so that a quote may come with its backslash. */
function hexEscape(character: string): string {
  return `\\u${character
    .charCodeAt(character.length - 1)
    .toString(16)
    .padStart(4, '0')}`;
}

function upperHexEscape(character: string): string {
  return `\\u${character
    .charCodeAt(character.length - 1)
    .toString(16)
    .toUpperCase()
    .padStart(4, '0')}`;
}

function inEnvelopeOrder(keys: string[]): string[] {
  const rank = (key: string) => (ENVELOPE.includes(key) ? ENVELOPE.indexOf(key) : ENVELOPE.length);
  return keys.toSorted((a, b) => rank(a) - rank(b));
}

function reordered(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  return Object.fromEntries(order(Object.keys(fields)).map((key) => [key, reordered(fields[key], order)]));
}
