import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Draws that are the same for the same seed. */
export interface Random {
  /** Returns an integer between two bounds, both included. */
  between(from: number, to: number): number;
  /** Returns true with a probability from 0 to 1. */
  chance(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

const PRECISION = 1_000_000;
/** The first draws from neighbouring seeds are nearly the same. */
const SIMILAR_DRAWS = 64;

/** Lets `Math.random` return draws of a seed. Returns the function that undoes it. */
export function seedMathRandom(seed: number): () => void {
  const { random } = Math;
  const { between } = createRandom(seed);
  Math.random = () => between(0, PRECISION - 1) / PRECISION;
  return () => {
    Math.random = random;
  };
}

export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const between = (from: number, to: number) => uniformInt(generator, from, to);
  for (let i = 0; i < SIMILAR_DRAWS; i += 1) between(0, 1);
  return {
    between,
    chance: (probability) => probability > 0 && between(1, PRECISION) <= probability * PRECISION,
    pick: (choices) => choices[between(0, choices.length - 1)] as (typeof choices)[number],
  };
}
