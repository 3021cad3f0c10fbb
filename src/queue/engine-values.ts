/**
 * Returns a count that an engine has stored, or 0: any program that can write to the engine may have put another value there.
 */
export function countOf(value: unknown): number {
  return knownNumber(value) ?? 0;
}

/** Returns a number of 0 or more that an engine has stored, perhaps as text, or undefined for another value. */
export function knownNumber(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d{1,15}$/.test(value);
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}

/** Returns a text that an engine has stored, or undefined for another value. */
export function knownText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
