import type { CauseName, Finding } from './causes.js';
import { fromBase64 } from './encodings.js';
import type { SignatureHeaders } from './signature-headers.js';

/** One signature that the headers claim: an HMAC of a prefix and the body. */
export interface Claim {
  header: 'v2' | 'legacy';
  /** The text that is signed before the body: `<t>.`, or nothing. */
  prefix: string;
  /** 64 lowercase hex digits. */
  mac: string;
  /** The signed time in seconds; undefined where there is none. */
  t: number | undefined;
  /** The problems that had to be corrected to read it. */
  findings: readonly Finding[];
}

/** Longer than any header that a sender means to send. */
const MAX_LENGTH = 16_384;
const MAX_CLAIMS = 64;

/** Returns every signature that the headers may mean, those of V2 first. */
export function claimsIn({ v2, legacy, timestamp }: SignatureHeaders): Claim[] {
  const misplaced = legacy.filter((value) => v2.length === 0 && value.includes('t='));
  const evidence = 'The legacy header has a value of the form that belongs in the V2 header.';
  return [
    ...readV2(v2, timestamp),
    ...readV2(misplaced, timestamp).map((claim) => ({
      ...claim,
      findings: [finding('v2_in_legacy', evidence), ...claim.findings],
    })),
    ...legacy.flatMap(readLegacy),
  ];
}

/** Reads a V2 header. `timestamp` is the value of the header that repeats `t`. */
function readV2(values: readonly string[], timestamp: string | undefined): Claim[] {
  const parts = values.flatMap(splitJoined);
  const joined = parts.length > 1 ? [finding('headers_joined', `The V2 header was sent ${parts.length} times.`)] : [];
  return parts.flatMap((part) => readPart(part, timestamp, joined)).slice(0, MAX_CLAIMS);
}

function readLegacy(value: string): Claim[] {
  const { text, findings } = cleaned(value.slice(0, MAX_LENGTH));
  return macsIn(text.replace(/^sha256=/i, '')).map((mac) => ({
    header: 'legacy',
    prefix: '',
    mac: mac.hex,
    t: undefined,
    findings: [...findings, ...mac.findings],
  }));
}

/** Splits values of one header that a proxy or a server has joined with commas. */
function splitJoined(value: string): string[] {
  const short = value.slice(0, MAX_LENGTH);
  return (short.match(/\bt=/g)?.length ?? 0) > 1 ? short.split(/,\s*(?=t=)/) : [short];
}

function readPart(value: string, timestamp: string | undefined, joined: readonly Finding[]): Claim[] {
  const { text, findings } = cleaned(value);
  const elements = text.split(',');
  const t = elements.find((element) => element.startsWith('t='))?.slice(2);
  const times = timesIn(t, timestamp);
  return elements.flatMap((element) => {
    const [, name = '', signature = ''] = /^(v1=sha256=|v1=|sha256=|)([^=]+=?)$/i.exec(element) ?? [];
    const named = /sha256/i.test(name) ? [finding('sha256_in_v2', 'The V2 header contains sha256=….')] : [];
    return macsIn(signature).flatMap((mac) => {
      const claim = { header: 'v2' as const, mac: mac.hex };
      const before = [...joined, ...findings, ...mac.findings, ...named];
      const bare =
        named.length > 0 ? [] : [finding('time_not_signed', 'The signature in the V2 header is over the body alone.')];
      return [
        ...times.map((time) => ({
          ...claim,
          prefix: `${time.text}.`,
          t: time.seconds,
          findings: [...before, ...time.findings],
        })),
        { ...claim, prefix: '', t: undefined, findings: [...before, ...bare] },
      ];
    });
  });
}

interface Time {
  text: string;
  seconds: number | undefined;
  findings: readonly Finding[];
}

/** Returns the times that `t` may have been when it was signed. */
function timesIn(t: string | undefined, timestamp: string | undefined): Time[] {
  const times: Time[] = [];
  if (t !== undefined) {
    const unit = /^\d{13}$/.test(t) ? 1000 : /^\d{16}$/.test(t) ? 1_000_000 : 1;
    const seconds = /^\d+(\.\d+)?$/.test(t) ? Math.floor(Number(t) / unit) : undefined;
    const evidence = `t has ${t.length} digits, and a time in seconds has 10.`;
    const findings = unit === 1 ? [] : [finding('milliseconds', evidence)];
    const odd = /^(0|[1-9]\d*)$/.test(t) ? [] : [finding('signature_malformed', 't is not a whole number of seconds.')];
    times.push({ text: t, seconds, findings: [...findings, ...odd] });
    if (String(seconds) !== t) times.push({ text: String(seconds), seconds, findings: [...findings, ...odd] });
  }
  if (timestamp !== undefined && timestamp !== t && /^\d{1,12}$/.test(timestamp)) {
    const other = t === undefined ? 'no t' : 'another time';
    const evidence = `The V2 header has ${other}, and the time of the timestamp header was signed.`;
    times.push({ text: timestamp, seconds: Number(timestamp), findings: [finding('timestamp_changed', evidence)] });
  }
  return times;
}

interface Mac {
  hex: string;
  findings: readonly Finding[];
}

/** Returns 32 bytes in every encoding in which they may be written. */
function macsIn(text: string): Mac[] {
  if (/^[0-9a-f]{64}$/.test(text)) return [{ hex: text, findings: [] }];
  if (/^[0-9a-f]{64}$/i.test(text)) {
    return [{ hex: text.toLowerCase(), findings: [finding('signature_uppercase', 'It is in upper-case hex.')] }];
  }
  const bytes = fromBase64(text);
  if (bytes?.length !== 32) return [];
  return [{ hex: bytes.toString('hex'), findings: [finding('signature_base64', 'The signature is in base64.')] }];
}

/** Returns a value without the additions of copying, quoting or URL encoding. */
function cleaned(value: string): { text: string; findings: Finding[] } {
  const decoded = value.replace(/%3d/gi, '=').replace(/%2c/gi, ',');
  const text = decoded.replace(/["'\s]/g, '').replaceAll(';', ',');
  const evidence = 'The signature header contains white space, quotes, semicolons or percent signs.';
  return { text, findings: text === value ? [] : [finding('signature_rewritten', evidence)] };
}

function finding(cause: CauseName, evidence: string): Finding {
  return { cause, evidence };
}
