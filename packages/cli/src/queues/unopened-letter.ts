/** The keys of queues: the name of the endpoint, the tenant where there is one, and the id of the event. */
const KEY = /^[^:]+:(?:tenant=([^:]+):)?(evt_.+)$/s;

/** Returns the id of the event from the key of its delivery; undefined where the key has a hash, or another identity. */
export function eventIdInKey(key: string | undefined): string | undefined {
  return KEY.exec(key ?? '')?.[2];
}

/** Returns the tenant from the key of a delivery; undefined where there is none, or a hash in its place. */
export function tenantInKey(key: string | undefined): string | undefined {
  return KEY.exec(key ?? '')?.[1];
}

/** What the library says where an option is missing, and what the option of the command line is. */
const MISSING: readonly [says: RegExp, notShown: string][] = [
  [/ encrypted, and encrypt is not set/, 'The body is encrypted: pass --decrypt.'],
  [/ overflow is not set/, 'The body is kept outside of the queue: pass --overflow.'],
  [
    / is not in encrypt\b/,
    'The body is encrypted with a key that --decrypt does not have: add that key to its source.',
  ],
];

/** Returns why a body is not shown, and which option shows it. */
export function whyNotShown(why: string): string {
  return MISSING.find(([says]) => says.test(why))?.[1] ?? why;
}

/** Whether the body of a job is kept outside of the queue, where the command line does not reach it. */
export function isOutOfReach(notShown: string | undefined): boolean {
  return notShown === MISSING[1]?.[1];
}
