import type { Secret } from 'service-webhooks';
import type { CauseName, Finding, Repair } from './causes.js';
import { fromBase64, percentDecoded } from './encodings.js';

/** A change of a secret into another form; it returns undefined where the secret has no such form. */
type Change = readonly [cause: CauseName, form: string, change: (text: string) => string | Buffer | undefined];

/** Removals of characters that files and variables add around a secret. */
const CLEANINGS: readonly Change[] = [
  ['secret_white_space', 'without the white space around it', (text) => text.trim()],
  ['secret_white_space', 'without the white space in it', (text) => text.replace(/[\s\p{Cf}]/gu, '')],
  ['secret_quoted', 'without the quotes around it', (text) => /^(["'`])(.*)\1$/s.exec(text)?.[2]],
  ['secret_assignment', 'without the name before it', (text) => /^(?:export\s+)?\w+\s*[=:]\s*(.+)/s.exec(text)?.[1]],
  ['secret_escaped', 'without the escaped line end', (text) => text.replace(/(\\[nrt])+$/, '')],
  ['secret_escaped', 'percent-decoded', percentDecoded],
];

/** Encodings that a secret is mistaken for. */
const RECODINGS: readonly Change[] = [
  [
    'secret_encoding',
    'decoded from hex',
    (text) => (/^([0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined),
  ],
  ['secret_encoding', 'decoded from base64', fromBase64],
  ['secret_encoding', 'in hex', (text) => Buffer.from(text).toString('hex')],
  ['secret_encoding', 'in base64', (text) => Buffer.from(text).toString('base64')],
  ['secret_encoding', 'in base64url', (text) => Buffer.from(text).toString('base64url')],
  ['secret_encoding', 'as Latin-1', (text) => (/^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined)],
  ['secret_prefix', 'without its prefix', withoutPrefix],
  ['secret_prefix', 'with the prefix whsec_', (text) => `whsec_${text}`],
  ['secret_encoding', 'without its prefix, decoded from base64', (text) => fromBase64(withoutPrefix(text) ?? '')],
  ['secret_case', 'in lower case', (text) => text.toLowerCase()],
  ['secret_case', 'in upper case', (text) => text.toUpperCase()],
];

const MAX_CLEANED = 8;

/**
 * Yields a secret unchanged, and then in every form that may have been meant. Bytes are read as text where they are
 * text.
 */
export function* secretRepairs(secret: Secret): Generator<Repair> {
  const given = Buffer.from(secret as string);
  const seen = new Set<string>();
  const isNew = (bytes: Buffer) => {
    const key = bytes.toString('hex');
    return bytes.length > 0 && !seen.has(key) && !!seen.add(key);
  };
  if (isNew(given)) yield { bytes: given, findings: [] };

  const cleaned: { text: string; findings: Finding[] }[] = [{ text: given.toString(), findings: [] }];
  for (const changes of [CLEANINGS, RECODINGS]) {
    for (const { text, findings: before } of cleaned) {
      for (const [cause, form, change] of changes) {
        const changed = change(text) ?? '';
        const bytes = Buffer.from(changed as string);
        if (!isNew(bytes)) continue;
        const findings = [...before, { cause, evidence: `The signature matches with the secret ${form}.` }];
        if (changes === CLEANINGS && cleaned.length < MAX_CLEANED) cleaned.push({ text: bytes.toString(), findings });
        yield { bytes, findings };
      }
    }
  }

  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    const bytes = Buffer.from(given.toString(encoding));
    const evidence = `The signature matches with the secret as text, in ${encoding}.`;
    if (isNew(bytes)) yield { bytes, findings: [{ cause: 'secret_encoding', evidence }] };
  }
}

function withoutPrefix(text: string): string | undefined {
  return /^[a-z0-9]{2,12}[_-](.+)/is.exec(text)?.[1];
}
