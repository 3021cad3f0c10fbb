import { takeFeatures } from './counters.mjs';

/**
 * Changes inputs until `judge` throws at one or `isOver`: what has reached something new is kept and changed further.
 *
 * @param accepts what `judge` gives for an input that is as it should be; one of `seeds` is
 * @param mutate makes a new input of one that was kept and another one
 */
export function search({ seeds, judge, accepts, mutate, random, isOver }) {
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
      verdict = judge(input);
    } catch (error) {
      found = { input: input.toString('latin1'), error: String(error) };
      return;
    }
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    const before = known.size;
    for (const feature of takeFeatures()) known.add(feature);
    if (known.size === before) return;
    corpus.push(input);
    if (verdict === accepts) accepted.push(input);
  }

  /** Half of the time one that was accepted: there are many more ways to be refused. */
  function pick() {
    const inputs = random(2) === 0 ? corpus : accepted;
    return inputs[random(inputs.length)];
  }

  for (const seed of seeds) if (found === null) tryOne(seed);
  while (found === null && !isOver(runs)) tryOne(mutate(pick(), pick(), random));
  return { runs, features: known.size, corpus: corpus.length, verdicts, found };
}
