import { mutateBytes } from './mutate-bytes.mjs';
import { mutateTokens } from './mutate-tokens.mjs';

/** A changed copy of a JSON text: a few steps, each with whole values, so that the rest stays well formed. */
export function mutateJson(bytes, other, { words }, random) {
  const root = parse(bytes);
  if (root === undefined) return mutateBytes(bytes, other, { words }, random);
  const others = placesOf(parse(other) ?? root);
  for (let left = 1 + random(1 + random(4)); left > 0; left--) {
    const places = placesOf(root);
    if (places.length === 0) break;
    const place = places[random(places.length)];
    const steps = typeof place.holder[place.key] === 'string' && random(4) > 0 ? WITHIN : AROUND;
    steps[random(steps.length)](place, { places, others, words, random });
  }
  const text = toText(root, others[random(others.length)], random);
  return text.length > MAX_LENGTH ? bytes : Buffer.from(text);
}

/** The value within an object, so that it has a place of its own. */
function parse(bytes) {
  try {
    return { root: JSON.parse(bytes.toString()) };
  } catch {
    return undefined;
  }
}

/** Each value within another one. */
function placesOf(holder) {
  const places = [];
  const holders = [holder];
  for (const each of holders) {
    for (const key of Object.keys(each)) {
      places.push({ holder: each, key });
      if (typeof each[key] === 'object' && each[key] !== null) holders.push(each[key]);
    }
  }
  return places;
}

const MAX_LENGTH = 8_192;
const VALUES = ['null', 'true', '0', '-1.5', '""', '"x"', '[]', '{}', '[{}]', '{"":null}'];

const AROUND = [
  // Another value: any, or one from elsewhere.
  ({ holder, key }, { random }) => {
    holder[key] = JSON.parse(VALUES[random(VALUES.length)]);
  },
  ({ holder, key }, { others, random }) => {
    holder[key] = copyOf(others[random(others.length)]);
  },
  // A value away.
  ({ holder, key }) => {
    delete holder[key];
  },
  // Two change places.
  ({ holder, key }, { places, random }) => {
    const { holder: other, key: otherKey } = places[random(places.length)];
    [holder[key], other[otherKey]] = [copyOf({ holder: other, key: otherKey }), copyOf({ holder, key })];
  },
  // A value deeper.
  ({ holder, key }, { random }) => {
    holder[key] = random(2) === 0 ? [holder[key]] : { [key]: holder[key] };
  },
];

/** A text changed, and nothing around it. */
const WITHIN = [mutateBytes, mutateTokens, mutateTokens].map((mutate) => ({ holder, key }, { words, random }) => {
  const text = Buffer.from(holder[key]);
  holder[key] = mutate(text, text, { words }, random).toString();
});

const copyOf = ({ holder, key }) => structuredClone(holder[key]);

/** At times with a key twice, which no value can have. */
function toText({ root }, { holder, key }, random) {
  const text = JSON.stringify(root) ?? '';
  if (random(8) > 0 || !text.startsWith('{')) return text;
  const member = `${JSON.stringify(key)}:${JSON.stringify(holder[key])}`;
  return text === '{}' ? `{${member}}` : `{${member},${text.slice(1)}`;
}
