/** Random for each process. It is made by the first claim: Workers have no random values before the first request. */
let processPart: string | undefined;
let claims = 0;

/** Returns the token of a claim, which no other claim has: 20 hex digits of this process, and 12 that count its claims. */
export function newToken(): string {
  processPart ??= crypto.randomUUID().replaceAll('-', '').slice(0, 20);
  claims += 1;
  return processPart + claims.toString(16).padStart(12, '0');
}
