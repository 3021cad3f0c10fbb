import { createHash } from 'node:crypto';

/**
 * Reproducible random values. Each depends on the seed and its purpose alone, so two runs agree although their answers
 * arrive in different order.
 */
export interface Random {
  readonly seed: string;
  /** Returns a number from 0 up to, but not including, 1. */
  number(...purpose: readonly (string | number)[]): number;
  /** Returns `prefix_` and 24 hex digits. */
  id(prefix: string, n: number): string;
  /** Returns a UUID. */
  uuid(prefix: string, n: number): string;
  /** Returns `prefix_` and 256 bits in base64url. */
  secret(prefix: string, n: number): string;
}

export function createRandom(seed: string): Random {
  const draw = (purpose: readonly (string | number)[]) =>
    createHash('sha256')
      .update(JSON.stringify([seed, ...purpose]))
      .digest();
  return {
    seed,
    number: (...purpose) => draw(purpose).readUIntBE(0, 6) / 2 ** 48,
    id: (prefix, n) => `${prefix}_${draw([prefix, n]).toString('hex', 0, 12)}`,
    uuid(prefix, n) {
      const hex = draw([prefix, n]).toString('hex');
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        `8${hex.slice(17, 20)}`,
        hex.slice(20, 32),
      ].join('-');
    },
    secret: (prefix, n) => `${prefix}_${draw([prefix, n]).toString('base64url')}`,
  };
}
