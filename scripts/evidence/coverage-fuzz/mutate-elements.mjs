import { mutateBytes } from './mutate-bytes.mjs';
import { mutateTokens } from './mutate-tokens.mjs';

/** A changed copy of a list with commas: a few steps, each with whole elements, so that the rest stays well formed. */
export function mutateElements(bytes, other, { words, limits }, random) {
  const elements = bytes.toString('latin1').split(',');
  const others = other.toString('latin1').split(',');
  for (let steps = 1 + random(1 + random(4)); steps > 0; steps--) {
    STEPS[random(STEPS.length)](elements, { others, words, limits, random });
  }
  return Buffer.from(elements.join(','), 'latin1').subarray(0, MAX_BYTES);
}

const MAX_BYTES = 8_192;
/** Just below a limit, at it, just above it. */
const near = (limits, random) => limits[random(limits.length)] - 1 + random(3);

const STEPS = [
  // One away.
  (elements, { random }) => elements.splice(random(elements.length), 1),
  // Another one in, or in place of one.
  (elements, { words, random }) =>
    elements.splice(random(elements.length + 1), random(2), words[random(words.length)].toString('latin1')),
  (elements, { others, random }) =>
    elements.splice(random(elements.length + 1), random(2), others[random(others.length)]),
  // Two change places.
  (elements, { random }) => {
    const [i, j] = [random(elements.length), random(elements.length)];
    if (elements.length > 0) [elements[i], elements[j]] = [elements[j], elements[i]];
  },
  // One so often that there are as many as a limit.
  (elements, { limits, random }) => {
    const one = elements[random(elements.length)] ?? '';
    for (let missing = Math.min(near(limits, random), 100) - elements.length; missing > 0; missing--) {
      elements.splice(random(elements.length + 1), 0, one);
    }
  },
  // One so long that all are as long as a limit.
  (elements, { limits, random }) => {
    const i = random(elements.length);
    const one = elements[i] ?? '';
    elements[i] = one.padEnd(one.length + near(limits, random) - elements.join(',').length, 'x');
  },
  // One changed within.
  ...[mutateBytes, mutateTokens].map((mutate) => (elements, { others, words, random }) => {
    const i = random(elements.length);
    const another = Buffer.from(others[random(others.length)], 'latin1');
    elements[i] = mutate(Buffer.from(elements[i] ?? '', 'latin1'), another, { words }, random).toString('latin1');
  }),
];
