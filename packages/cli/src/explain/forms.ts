import type { Secret } from 'service-webhooks';
import { type BodyRepairOptions, bodyRepairs, spelled } from './body-repairs.js';
import type { Judged, Repair } from './causes.js';
import { secretRepairs } from './secret-repairs.js';

/**
 * Returns the given secrets, the other secrets, and all further forms of the given ones, with the faults visible in a
 * secret.
 */
export function secretForms(
  secret: Secret | readonly Secret[] | undefined,
  others: Readonly<Record<string, Secret>> = {},
): { secrets: readonly Repair[]; findings: readonly Judged[] } {
  const all: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const usable = all.filter(isUsable);
  const forms = usable.flatMap((one) => [...secretRepairs(one)]);
  const ofOthers = Object.entries(others).flatMap(([name, other]): Repair[] => {
    if (!isUsable(other)) return [];
    const evidence = `The signature matches with the secret of ${name}.`;
    return [{ bytes: Buffer.from(other as string), findings: [{ cause: 'secret_of_other_endpoint', evidence }] }];
  });
  const texts = usable.map((one) => Buffer.from(one as string).toString());
  const findings: Judged[] = [];
  if (usable.length < all.length || all.length === 0) {
    findings.push({ cause: 'secret_missing', certainty: 'certain', evidence: 'It is empty, blank or not there.' });
  }
  if (texts.some((text) => text.trim() !== text)) {
    findings.push({ cause: 'secret_white_space', certainty: 'certain', evidence: 'There is white space around it.' });
  }
  if (texts.some((text) => /^\s*(["'`]).*\1\s*$/s.test(text))) {
    findings.push({ cause: 'secret_quoted', certainty: 'certain', evidence: 'There are quotes around it.' });
  }
  return {
    secrets: [
      ...forms.filter(({ findings }) => findings.length === 0),
      ...ofOthers,
      ...forms.filter(({ findings }) => findings.length > 0),
    ],
    findings,
  };
}

/** The values of an environment variable that was set from an undefined value. */
const UNSET = ['', 'undefined', 'null'];

function isUsable(secret: unknown): secret is Secret {
  if (typeof secret === 'string') return !UNSET.includes(secret.trim());
  return secret instanceof Uint8Array && secret.some((byte) => byte !== 0);
}

/** Returns the body as bytes with all its forms, or the forms that a parsed body may have had. */
export function bodyForms(
  body: unknown,
  options: BodyRepairOptions = {},
): { bytes: Uint8Array | undefined; bodies: () => Iterable<Repair>; findings: readonly Judged[] } {
  const bytes = bytesOf(body);
  if (bytes !== undefined) return { bytes, bodies: () => bodyRepairs(bytes, options), findings: [] };
  if (body === undefined || body === null) {
    const evidence = 'There is none.';
    return {
      bytes: undefined,
      bodies: () => [],
      findings: [{ cause: 'body_missing', certainty: 'certain', evidence }],
    };
  }
  const value = jsonValue(body);
  // Here, how the JSON was written is not a cause of its own.
  const bodies = () => (value === undefined ? [] : map(spelled(value), ({ bytes }) => ({ bytes, findings: [] })));
  const evidence = 'It is not bytes and not text, but what a parser makes of them.';
  return { bytes: undefined, bodies, findings: [{ cause: 'body_parsed', certainty: 'certain', evidence }] };
}

/** Returns the bytes of a body that is bytes or text; undefined for any other value, which comes from a parser. */
function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return undefined;
}

/** Returns the part of a value that JSON can represent. */
function jsonValue(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

function* map<From, To>(values: Iterable<From>, change: (value: From) => To): Generator<To> {
  for (const value of values) yield change(value);
}
