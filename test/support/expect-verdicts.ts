import { expect } from 'vitest';
import { refused, type Vector, type Verdict } from './vector.js';

/** Runs the vectors of a group at once; where a verdict is another one, the difference names the vector. */
export async function expectVerdicts(some: Vector[], group: string, judge: (vector: Vector) => Promise<Verdict>) {
  const chosen = some.filter((vector) => vector.group === group);
  const verdicts = await Promise.all(chosen.map(async (vector) => [vector.name, await judge(vector).catch(refused)]));
  expect(Object.fromEntries(verdicts)).toEqual(
    Object.fromEntries(chosen.map((vector) => [vector.name, vector.expect])),
  );
}
