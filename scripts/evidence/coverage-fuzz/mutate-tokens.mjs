const TOKEN = /\d+|[a-z]+|./gis;
const MAX_BYTES = 8_192;

/** A changed copy of a text: a few steps, each with whole numbers, names and signs, so that the rest stays well formed. */
export function mutateTokens(bytes, _, { words }, random) {
  const tokens = bytes.toString('latin1').match(TOKEN) ?? [''];
  for (let steps = 1 + random(1 + random(4)); steps > 0 && tokens.length > 0; steps--) {
    const at = random(tokens.length);
    tokens.splice(at, 1, ...STEPS[random(STEPS.length)](tokens[at], words, random));
  }
  return Buffer.from(tokens.join(''), 'latin1').subarray(0, MAX_BYTES);
}

const isNumber = (text) => /^\d+$/.test(text);
const wordOf = (words, random) => words[random(words.length)].toString('latin1');

/** A word in the place of a word, a number in that of a number. */
function another(token, words, random) {
  const alike = words.filter((word) => isNumber(word.toString('latin1')) === isNumber(token));
  return [alike.length > 0 ? wordOf(alike, random) : token];
}

/** What stands in the place of a token then. */
const STEPS = [
  () => [],
  (token) => [token, token],
  (token, words, random) => [wordOf(words, random), token],
  another,
  another,
  // Another number: as long, the next one, the one before, or of one more digit.
  (token, _, random) => {
    if (!isNumber(token)) return [token];
    const digits = Array.from(token, () => random(10)).join('');
    const next = `${BigInt(token) + [1n, -1n][random(2)]}`.padStart(token.length, '0');
    return [[digits, next, `${token}${random(10)}`, `0${token}`][random(4)]];
  },
];
