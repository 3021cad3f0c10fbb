/** How near two operands were is told apart in as many steps. */
export const NEARNESS = 32;

/** How many sites there may be. */
export const SITES = 2 ** 16;

const counts = new Uint32Array(SITES);
let touched = [];

/** `site` was reached. */
export function hit(site) {
  if (counts[site]++ === 0) touched.push(site);
}

/** `left operator right`, with a note of how near they were: the way to a bound is many small ones. */
export function compare(site, operator, left, right) {
  hit(site + nearness(left, right));
  switch (operator) {
    case '===':
      return left === right;
    case '!==':
      return left !== right;
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '<=':
      return left <= right;
    case '>=':
      return left >= right;
  }
}

function nearness(left, right) {
  if (left === right) return 0;
  if (typeof left === 'number' && typeof right === 'number') {
    const distance = Math.min(bits(Math.abs(left - right)), NEARNESS / 2 - 1);
    return left < right ? distance : NEARNESS / 2 + distance;
  }
  if (typeof left !== 'string' || typeof right !== 'string') return 1;
  let same = 0;
  while (same < NEARNESS - 2 && same < left.length && left[same] === right[same]) same += 1;
  return 1 + same;
}

/** The sites that were reached since the last call, each with the binary order of how often. */
export function takeFeatures() {
  const features = touched.map((site) => site * 33 + bits(counts[site]));
  for (const site of touched) counts[site] = 0;
  touched = [];
  return features;
}

const bits = (number) => 32 - Math.clz32(Math.min(number, 2 ** 31));
