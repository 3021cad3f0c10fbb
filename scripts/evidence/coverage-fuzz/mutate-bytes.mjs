/** A changed copy of some bytes: a few steps of what fuzzers do, with `words` that the grammar knows. */
export function mutateBytes(bytes, other, { words }, random) {
  let changed = bytes;
  for (let steps = 1 + random(1 + random(4)); steps > 0; steps--) {
    changed = STEPS[random(STEPS.length)](changed, other, words, random);
  }
  return changed.subarray(0, MAX_BYTES);
}

const MAX_BYTES = 8_192;

const splice = (bytes, at, removed, added) =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);

/** Anywhere in it or just behind it, more often at its ends. */
function place(bytes, random) {
  const where = random(8);
  return where === 0 ? 0 : where === 1 ? bytes.length : random(bytes.length + 1);
}

const STEPS = [
  // A bit.
  (bytes, _, __, random) => {
    const at = place(bytes, random);
    return splice(bytes, at, 1, Buffer.of((bytes[at] ?? 0) ^ (1 << random(8))));
  },
  // A byte, any or near.
  (bytes, _, __, random) => splice(bytes, place(bytes, random), random(2), Buffer.of(random(256))),
  (bytes, _, __, random) => {
    const at = place(bytes, random);
    return splice(bytes, at, 1, Buffer.of(((bytes[at] ?? 0) + [1, 255][random(2)]) & 255));
  },
  // Something away.
  (bytes, _, __, random) => splice(bytes, place(bytes, random), 1 + random(8), Buffer.alloc(0)),
  // A word in, or over what is there.
  (bytes, _, words, random) => {
    const word = words[random(words.length)];
    return splice(bytes, place(bytes, random), [0, word.length][random(2)], word);
  },
  // A piece once more, a few times.
  (bytes, _, __, random) => {
    const at = random(bytes.length + 1);
    const piece = bytes.subarray(at, at + 1 + random(80));
    return splice(bytes, place(bytes, random), 0, Buffer.concat(Array(1 + random(10)).fill(piece)));
  },
  // The end of another input.
  (bytes, other, _, random) =>
    Buffer.concat([bytes.subarray(0, random(bytes.length + 1)), other.subarray(random(other.length + 1))]),
];
