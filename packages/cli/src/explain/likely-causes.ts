import { type CauseName, type Certainty, type Finding, type Judged, judged, type Repair } from './causes.js';
import { utf8Text } from './encodings.js';
import type { SignatureHeaders } from './signature-headers.js';

/**
 * Returns the causes that the evidence makes likely where no form verifies. `complete`: whether every form was tried.
 */
export function likelyCauses(body: Uint8Array, headers: SignatureHeaders, complete: boolean): readonly Judged[] {
  const { contentLength: declared, contentEncoding = 'identity' } = headers;
  const { length } = body;
  const lengths = `Content-Length is ${declared}, and the body has ${length} bytes.`;
  if (length === 0)
    return [
      declared ? judge('body_missing', 'certain', lengths) : judge('body_missing', 'likely', 'The body is empty.'),
    ];

  const text = utf8Text(body);
  const written = writtenAgain(text?.replace(/^\ufeff/, ''));
  const isEncoded = contentEncoding !== 'identity';
  const changed = declared !== undefined && declared !== length;
  const tried = complete ? 'The signature matches no other form of the body.' : 'Not every form of the body was tried.';
  const found = written === undefined ? damageOf(body, isEncoded ? undefined : declared, lengths) : [];
  if (isEncoded) found.push(judge('decompressed', 'likely', 'Content-Encoding says that the body was compressed.'));
  if (text?.includes('\ufffd')) {
    found.push(judge('characters_lost', 'likely', 'The body contains replacement characters (U+FFFD).'));
  }
  if (written === undefined) return [...found, judge('secret_wrong', 'possible', tried)];

  if (written === text?.trimEnd()) {
    const certainty = changed || hasSortedKeys(written) ? 'likely' : 'possible';
    found.push(judge('body_reserialised', certainty, changed ? `${WRITTEN} ${lengths}` : WRITTEN));
  }
  const whole = declared === length && found.every(({ certainty }) => certainty === 'possible');
  found.push(judge('secret_wrong', whole ? 'likely' : 'possible', tried));
  found.push(judge('body_changed', changed ? 'likely' : 'possible', changed ? lengths : tried));
  return found;
}

/** Returns how a body that is not JSON was damaged: the service sends only JSON. Other senders may send other text. */
function damageOf(body: Uint8Array, declared: number | undefined, lengths: string): Judged[] {
  if (declared !== undefined && declared !== body.length)
    return [judge(body.length < declared ? 'body_incomplete' : 'body_changed', 'certain', lengths)];
  const text = Buffer.from(body)
    .toString()
    .replace(/^\ufeff/, '')
    .trim();
  const isText = utf8Text(body) !== undefined;
  const evidence = `The service sends JSON, and the body is not ${isText ? 'JSON' : 'valid UTF-8'}.`;
  if (!endsEarly(text)) {
    const looksLikeJson = text.startsWith('{') || text.endsWith('}');
    return [judge('body_changed', looksLikeJson ? 'certain' : 'likely', evidence)];
  }
  return [
    judge('body_incomplete', 'likely', 'The body begins as JSON and ends before the JSON is complete.'),
    judge('body_changed', 'possible', evidence),
  ];
}

/**
 * Returns how certain the change of a body is, once a form of it verifies. White space around JSON is also lost when it
 * is parsed and written again, so either may have happened.
 */
export function judgeBody(given: Uint8Array | undefined, { bytes, findings }: Repair): Judged[] {
  const has = (cause: CauseName) => findings.some((one) => one.cause === cause);
  const signed = utf8Text(bytes) ?? '';
  const plain = bare(signed);
  const lost = has('newline_stripped') || (has('byte_order_mark') && signed.startsWith('\ufeff'));
  if (lost && plain === writtenAgain(plain)) {
    const [atEnds, others] = [findings.filter(isAtEnds), findings.filter((finding) => !isAtEnds(finding))];
    return [...judged('certain', others), ...judged('likely', atEnds), judge('body_reserialised', 'likely', WRITTEN)];
  }
  if (has('body_reserialised') && given && plain === bare(utf8Text(given) ?? '')) {
    const evidence = 'Only white space or a byte order mark is different.';
    return [judge('white_space_changed', 'likely', evidence), ...judged('likely', findings)];
  }
  return judged('certain', findings);
}

function isAtEnds({ cause }: Finding): boolean {
  return cause === 'newline_stripped' || cause === 'byte_order_mark';
}

/** Returns a text without the characters that an editor adds or removes. */
function bare(text: string): string {
  return text.replaceAll('\r\n', '\n').trim(); // trim also removes a byte order mark
}

const WRITTEN = 'The body is exactly what JSON.stringify writes.';

function judge(cause: CauseName, certainty: Certainty, evidence: string): Judged {
  return { cause, certainty, evidence };
}

function writtenAgain(text: string | undefined): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

/** Returns whether a text begins an object and ends before the object does. */
function endsEarly(text: string): boolean {
  const withoutStrings = text.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"?/g, '');
  return text.startsWith('{') && withoutStrings.split('{').length > withoutStrings.split('}').length;
}

/** Returns whether the keys are sorted, which a sender that writes an envelope field by field does not do. */
function hasSortedKeys(json: string): boolean {
  const keys = Object.keys(Object(JSON.parse(json)));
  return keys.length > 2 && keys.toSorted().join() === keys.join();
}
