/** The fix for each cause. The order is that of `docs/explain.md`. */
export const FIXES = {
  // Causes in the signature headers
  signature_missing: 'Look for a proxy that drops headers, or a client that sends none.',
  header_prefix: 'Set headerPrefix to the prefix of the header names.',
  header_renamed: 'Pass the headers under the names that came over the wire: with hyphens, not as CGI variables.',
  v2_stripped: 'Find what drops the V2 header on the way: a proxy with a list of allowed headers?',
  v2_in_legacy: 'Pass each header under its own name.',
  headers_joined: 'Find what sends or sets the header a second time, and pass one value.',
  sha256_in_v2: 'The V2 header is t=…,v1=…; a signature of the form sha256=… belongs to the legacy header.',
  time_not_signed: 'A V2 signature is over the time, a dot and the body, not over the body alone.',
  signature_rewritten: 'Pass the value of the header as it came: no quotes, no white space, no percent signs.',
  v2_changed: 'Find what changes the V2 header on the way. The legacy one came through as it was.',
  signature_uppercase: 'Pass the header as it came. A signer of your own has to write lowercase hex.',
  signature_base64: 'A signature is written in lowercase hex, not in base64.',
  signature_malformed: 'Pass the header as it came: t, v1 and nothing else, as in t=1783771200,v1=…',

  // Causes in the time
  milliseconds: 'The time in the V2 header is in whole seconds.',
  timestamp_changed: 'Find what changes t in the V2 header on the way.',
  clock_in_seconds: 'now() has to give milliseconds, as Date.now does.',
  clock_behind: 'Set the clock of this machine by NTP.',
  clock_ahead: 'Set the clock of this machine by NTP.',
  old_delivery:
    'If the delivery was kept or captured, there is nothing to fix: verify it as of the time it arrived, with the option now. Otherwise it is a replay.',

  // Causes in the secret
  secret_missing: 'Set the secret: the environment variable is empty or not there.',
  secret_white_space: 'Remove the white space around the secret, often a line feed at the end of a file or variable.',
  secret_quoted: 'Remove the quotes around the secret: not every reader of .env files does.',
  secret_assignment: 'Pass only the part after the equals sign.',
  secret_escaped: 'Pass the secret as the service showed it, not escaped.',
  secret_prefix: 'Pass the secret as the service showed it: with no prefix added or removed.',
  secret_encoding: 'Pass the secret as the service showed it: text as it is, not decoded or encoded.',
  secret_case: 'Pass the secret in the case in which the service showed it.',
  secret_of_other_endpoint: 'Each endpoint has a secret of its own: pass the one of the endpoint that received this.',
  secret_wrong: 'Compare the secret with the value that was shown when the endpoint was created.',

  // Causes in the body
  body_parsed: 'Verify the bytes that came, before anything parses them.',
  body_reserialised: 'Verify the bytes that came. JSON that was parsed and written again is another text.',
  newline_added: 'Find what ends the body with a line feed: an editor, echo, a file in between?',
  newline_stripped: 'Find what removes the line feed at the end of the body: trim(), an editor, $(…) in a shell?',
  white_space_changed: 'Find what adds or removes white space around the body: trim()?',
  line_ends_changed: 'Read and write the body as bytes: something changes the ends of its lines.',
  wrong_charset: 'Read the body as bytes, or as UTF-8: something takes it for Latin-1.',
  byte_order_mark: 'Read and write the body as bytes: a byte order mark was added or removed.',
  unicode_normalised: 'Verify the bytes that came, before anything normalises the text.',
  decompressed: 'Verify the bytes that came, before anything decompresses them.',
  compressed: 'Decompress the body before it is verified: the signature is over what is inside.',
  body_in_base64: 'Decode the body first: an API Gateway event says so in isBase64Encoded.',
  body_quoted: 'Pass the text itself, not the text written as a JSON string.',
  body_url_encoded: 'Pass the bytes that came: something reads or writes them as a form.',
  body_html_escaped: 'Verify the bytes that came, before anything escapes them for HTML.',
  body_padded: 'Pass only the bytes that were read, not the whole buffer.',
  body_missing: 'Verify before anything else reads the body, or keep the bytes that it read.',
  body_incomplete: 'Read the whole body before you verify it. Find what cuts it off: a proxy, a size limit, a log.',
  characters_lost: 'Read the body as bytes. Text decoded chunk by chunk loses the characters that two chunks share.',
  body_changed: 'Compare the bytes with those the sender signed; look at every proxy, middleware and log in between.',
  no_event: 'The signature is valid, but the body is not an event: find out what else signs with this secret.',
} as const satisfies Record<string, string>;

/** The name of a reason why a delivery does not verify. `docs/explain.md` describes each. */
export type CauseName = keyof typeof FIXES;

/**
 * How certain a cause is. `certain`: with the fix the signature is valid, or no other cause is possible. `likely`: the
 * evidence supports it. `possible`: nothing rules it out.
 */
export type Certainty = 'certain' | 'likely' | 'possible';

/** A cause and its evidence. */
export interface Finding {
  cause: CauseName;
  evidence: string;
}

/** A finding with its certainty. */
export interface Judged extends Finding {
  certainty: Certainty;
}

/** A value in another form, with the findings that explain the change: none for the unchanged value. */
export interface Repair {
  bytes: Uint8Array;
  findings: readonly Finding[];
}

export function judged(certainty: Certainty, findings: readonly Finding[]): Judged[] {
  return findings.map((finding) => ({ ...finding, certainty }));
}
