import { isWebhookError } from '../errors.js';
import { exactBytes } from '../http.js';
import type { Secret } from '../secret.js';
import { bodyRepairs, spelled } from './body-repairs.js';
import type { Judged, Repair } from './causes.js';
import { secretRepairs } from './secret-repairs.js';

/** The secrets that were given, those of others, and then all forms of those given. */
export function givenSecrets(
  secret: Secret | readonly Secret[] | undefined,
  others: Readonly<Record<string, Secret>> = {},
): { secrets: readonly Repair[]; findings: readonly Judged[] } {
  const all: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const usable = all.filter(isUsable);
  const forms = usable.flatMap((one) => [...secretRepairs(one)]);
  const ofOthers = Object.entries(others).flatMap(([name, other]): Repair[] => {
    if (!isUsable(other)) return [];
    const evidence = `The signature holds with the secret of ${name}.`;
    return [{ bytes: Buffer.from(other as string), findings: [{ cause: 'secret_of_other_endpoint', evidence }] }];
  });
  const findings: Judged[] = [];
  if (usable.length < all.length || all.length === 0) {
    findings.push({ cause: 'secret_missing', certainty: 'certain', evidence: 'It is empty, blank or not there.' });
  }
  if (usable.some((one) => typeof one === 'string' && one.trim() !== one)) {
    findings.push({ cause: 'secret_white_space', certainty: 'certain', evidence: 'There is white space around it.' });
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

function isUsable(secret: unknown): secret is Secret {
  return secret instanceof Uint8Array ? secret.length > 0 : typeof secret === 'string' && secret.trim() !== '';
}

/** The body as bytes with all its forms, or the forms that a parsed one may have had. */
export function givenBody(
  body: unknown,
  contentEncoding: string | undefined,
): { bytes: Uint8Array | undefined; bodies: () => Iterable<Repair>; findings: readonly Judged[] } {
  try {
    const bytes = exactBytes(body);
    return { bytes, bodies: () => bodyRepairs(bytes, contentEncoding), findings: [] };
  } catch (error) {
    if (!isWebhookError(error)) throw error;
  }
  if (body === undefined || body === null) {
    const evidence = 'There is none.';
    return {
      bytes: undefined,
      bodies: () => [],
      findings: [{ cause: 'body_missing', certainty: 'certain', evidence }],
    };
  }
  const value = jsonValue(body);
  // How it was written is no cause of its own here.
  const bodies = () => (value === undefined ? [] : map(spelled(value), ({ bytes }) => ({ bytes, findings: [] })));
  const evidence = 'It is not bytes and not text, but what a parser makes of them.';
  return { bytes: undefined, bodies, findings: [{ cause: 'body_parsed', certainty: 'certain', evidence }] };
}

/** What of a value is JSON. */
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
