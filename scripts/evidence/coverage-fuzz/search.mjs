import { seededRandom } from '../seeded-random.mjs';
import { takeFeatures } from './counters.mjs';
import { mutateBytes } from './mutate-bytes.mjs';
import { mutateTokens } from './mutate-tokens.mjs';

/**
 * Changes the inputs of a target until it throws at one or `isOver`: what has reached something new is kept and changed
 * further. With `subjects` that nothing has used yet, the
 * same seed gives the same inputs.
 */
export function search(target, subjects, seed, isOver) {
  const random = seededRandom(seed);
  const mutators = [mutateBytes, mutateTokens, target.mutate, target.mutate];
  const corpus = [];
  const accepted = [];
  const known = new Set();
  const verdicts = {};
  let runs = 0;
  let found = null;

  function tryOne(input) {
    runs += 1;
    takeFeatures();
    let verdict;
    try {
      verdict = target.judge(subjects, input);
    } catch (error) {
      found = { input: input.toString('latin1'), error: String(error) };
      return;
    }
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    const before = known.size;
    for (const feature of takeFeatures()) known.add(feature);
    if (known.size === before) return;
    corpus.push(input);
    if (verdict === target.accepts) accepted.push(input);
  }

  /** Half of the time one that was accepted: there are many more ways to be refused. */
  function pick() {
    const inputs = random(2) === 0 ? corpus : accepted;
    return inputs[random(inputs.length)];
  }

  for (const input of target.seeds) if (found === null) tryOne(input);
  while (found === null && !isOver(runs)) {
    const mutate = mutators[random(mutators.length)];
    tryOne(mutate(pick(), pick(), target, random));
  }
  return { runs, features: known.size, corpus: corpus.length, verdicts, found };
}
