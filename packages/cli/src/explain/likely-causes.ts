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
    return [declared ? judge('body_missing', 'certain', lengths) : judge('body_missing', 'likely', 'It is empty.')];

  const found: Judged[] = [];
  const text = utf8Text(body);
  const written = writtenAgain(text);
  const changed = declared !== undefined && declared !== length;
  if (contentEncoding !== 'identity') {
    found.push(judge('decompressed', 'likely', 'Content-Encoding says that it was compressed.'));
  }
  if (text?.includes('\ufffd')) found.push(judge('characters_lost', 'likely', 'It holds replacement characters.'));
  if (changed && length < declared && written === undefined) found.push(judge('body_incomplete', 'likely', lengths));
  if (declared === undefined && opensOnly(text)) {
    found.push(judge('body_incomplete', 'likely', 'It begins as JSON and does not end so.'));
  }
  if (written !== undefined && written === text?.trimEnd()) {
    const certainty = changed || hasSortedKeys(written) ? 'likely' : 'possible';
    found.push(judge('body_reserialised', certainty, changed ? `${WRITTEN} ${lengths}` : WRITTEN));
  }
  const tried = complete ? 'No other form of it makes the signature.' : 'Not every form of it was tried.';
  const whole = declared === length && found.every(({ certainty }) => certainty === 'possible');
  found.push(judge('secret_wrong', whole ? 'likely' : 'possible', tried));
  found.push(judge('body_changed', changed ? 'likely' : 'possible', changed ? lengths : tried));
  return found;
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
    const evidence = 'Nothing is different but white space or a byte order mark.';
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

const WRITTEN = 'It is what JSON.stringify makes of it.';

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

/** Returns whether a text begins an object that does not end. */
function opensOnly(text = ''): boolean {
  const bare = text.trim();
  return bare.startsWith('{') && !bare.endsWith('}');
}

/** Returns whether the keys are sorted, which a sender that writes an envelope field by field does not do. */
function hasSortedKeys(json: string): boolean {
  const keys = Object.keys(Object(JSON.parse(json)));
  return keys.length > 2 && keys.toSorted().join() === keys.join();
}
