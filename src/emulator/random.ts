import { createHash } from 'node:crypto';

/**
 * Chance that can be repeated: what is drawn depends on the seed and on what it is drawn for, never on what was drawn
 * before. So two runs agree although their answers come in another order.
 */
export interface Random {
  readonly seed: string;
  /** From 0 up to, but not including, 1. */
  number(...purpose: readonly (string | number)[]): number;
  /** `prefix_` and 24 hex digits. */
  id(prefix: string, n: number): string;
  /** In the form of a UUID. */
  uuid(prefix: string, n: number): string;
  /** `prefix_` and 256 bits. */
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
