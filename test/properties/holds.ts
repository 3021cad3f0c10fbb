import fc from 'fast-check';

/*
 * How often each property is tried, and from where: FUZZ_RUNS and FUZZ_SEED. fast-check prints the seed of a failure,
 * `npm run fuzz` that of the whole run.
 */
const { FUZZ_RUNS, FUZZ_SEED } = process.env;
const seed = FUZZ_SEED === undefined ? {} : { seed: Number(FUZZ_SEED) };

export const options = { timeout: Math.max(240_000, Number(FUZZ_RUNS ?? 0) * 20) };

/** Fails with the smallest counterexample. Without FUZZ_RUNS it is tried `usually` times. */
export const holds = <Values extends [unknown, ...unknown[]]>(
  arbitraries: { [I in keyof Values]: fc.Arbitrary<Values[I]> },
  property: (...values: Values) => Promise<unknown> | unknown,
  usually = 2_000,
) =>
  fc.assert(
    fc.asyncProperty(...(arbitraries as [fc.Arbitrary<unknown>]), async (...values: unknown[]) => {
      await property(...(values as Values));
    }),
    { numRuns: Number(FUZZ_RUNS ?? usually), ...seed },
  );
