/**
 * Returns a text of a server as an error may hold it: without the API key, and with at most `maxCharacters` (default:
 * 10 000). A text with the key in another spelling is replaced as a whole.
 */
export type Redact = (text: string, maxCharacters?: number) => string;

const KEY_MARK = '[API key]';
const TEXT_MARK = '[withheld, because it holds the API key]';
const MAX_CHARACTERS = 10_000;
/** The length of a character of the key in its longest usual spelling, such as `&amp;#x0061;`. */
const LONGEST_SPELLING = 32;
/** A text that is encoded more often than this allows is taken for one with the key. */
const MAX_READINGS = 16;

export function createRedact(apiKey: string): Redact {
  const plainKey = new RegExp(apiKey.replace(/\W/g, '\\$&'), 'gi');
  const keys = readings(apiKey).filter(Boolean);

  function holdsKey(text: string): boolean {
    const found = readings(text);
    return found.length > MAX_READINGS || found.some((letters) => keys.some((key) => letters.includes(key)));
  }

  return (text, maxCharacters = MAX_CHARACTERS) => {
    const redacted = text.replace(plainKey, KEY_MARK);
    // More than is returned, so that a key that the limit cuts is found.
    const searched = redacted.slice(0, maxCharacters + apiKey.length * LONGEST_SPELLING);
    if (searched.split(KEY_MARK).some(holdsKey)) return TEXT_MARK;
    return redacted.length > maxCharacters ? `${redacted.slice(0, maxCharacters)}…` : redacted;
  };
}

/**
 * Returns what a text says when its escapes are decoded none, one or more times: letters in one case and digits only, as
 * any other character may cut the key in two.
 */
function readings(text: string): string[] {
  const found: string[] = [];
  let [decoded, previous] = [text, ''];
  while (decoded !== previous && found.length <= MAX_READINGS) {
    found.push(lettersOf(decoded), lettersOf(decoded.replace(NAMED_ESCAPE, '')));
    previous = decoded;
    decoded = decode(decoded);
  }
  return found;
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** An escape that is written with letters, such as `\\n` of JSON and `&quot;` of HTML: they are not letters of the key. */
const NAMED_ESCAPE = /\\[bfnrt]|&[a-z]+;/gi;

/** A character as a URL, JSON, JavaScript or HTML writes it. */
const ESCAPE = /(?:%|\\x)([0-9a-f]{2})|(?:%|\\)u([0-9a-f]{4})|&#x([0-9a-f]+);?|&#([0-9]+);?|&amp;/gi;

function decode(text: string): string {
  // JSON within JSON has several backslashes in place of one.
  return text.replace(/\\+/g, '\\').replace(ESCAPE, (_, byte, unit, hex, decimal) => {
    const code = decimal === undefined ? Number.parseInt(byte ?? unit ?? hex ?? '26', 16) : Number(decimal);
    return String.fromCharCode(code); // a key is ASCII, so no character needs more
  });
}
