import type { HeaderSource } from 'service-webhooks';
import type { Finding } from './causes.js';

/** The signature values of a request, and the header names that they were found under. */
export interface SignatureHeaders {
  v2: readonly string[];
  legacy: readonly string[];
  timestamp: string | undefined;
  contentLength: number | undefined;
  contentEncoding: string | undefined;
  findings: readonly Finding[];
}

/** Finds the signature headers by their names, and then by similar names. */
export function readSignatureHeaders(source: HeaderSource, headerPrefix = 'x-service'): SignatureHeaders {
  const prefix = headerPrefix.toLowerCase();
  const headers = pairsOf(source);
  const seen = headers.map(([name, value]) => [lookOf(name), value] as const);
  const has = (from: Pairs, some: string) =>
    from.some(([name]) => name === `${some}-signature-v2` || name === `${some}-signature`);
  const asTheyAre = (findings: readonly Finding[]) =>
    valuesUnder(has(headers, prefix) ? headers : seen, prefix, findings);

  if (has(headers, prefix)) return asTheyAre([]);
  if (has(seen, prefix)) {
    return asTheyAre([
      { cause: 'header_renamed', evidence: 'The signature headers came under names of another spelling.' },
    ]);
  }
  const other = seen.map(([name]) => /^([a-z0-9-]{1,64})-signature-v2$/.exec(name)?.[1]).find(Boolean);
  if (other === undefined) return asTheyAre([]);
  const evidence = `The signature headers begin with ${other}, not with ${prefix}.`;
  return valuesUnder(seen, other, [{ cause: 'header_prefix', evidence }]);
}

type Pairs = readonly (readonly [name: string, value: string])[];

function valuesUnder(headers: Pairs, prefix: string, findings: readonly Finding[]): SignatureHeaders {
  const all = (wanted: string) => headers.filter(([name]) => name === wanted).map(([, value]) => value);
  const [contentLength = ''] = all('content-length');
  return {
    v2: all(`${prefix}-signature-v2`),
    legacy: all(`${prefix}-signature`),
    timestamp: all(`${prefix}-timestamp`)[0],
    contentLength: /^\d{1,15}$/.test(contentLength) ? Number(contentLength) : undefined,
    contentEncoding: all('content-encoding')[0]?.toLowerCase(),
    findings,
  };
}

/**
 * Returns a name without the changes of CGI and some frameworks: underscores for hyphens, and HTTP_ before the name.
 */
function lookOf(name: string): string {
  return name.replaceAll('_', '-').replace(/^http-/, '');
}

function pairsOf(source: HeaderSource): Pairs {
  const entries = Symbol.iterator in source ? [...(source as Iterable<[string, string]>)] : Object.entries(source);
  return entries.flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [String(name).toLowerCase(), String(one)]),
  );
}
