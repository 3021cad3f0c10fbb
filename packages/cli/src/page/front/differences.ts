import type { Header } from '../page-source.js';

/** A value of two things that are compared; undefined where one of them has none. */
export interface Pair {
  name: string;
  left: string | undefined;
  right: string | undefined;
}

export function isDifferent({ left, right }: Pair): boolean {
  return left !== right;
}

/** Pairs headers by their names, whose case does not matter. */
export function pairHeaders(left: readonly Header[], right: readonly Header[]): Pair[] {
  const [lefts, rights] = [byName(left), byName(right)];
  const names = new Set([...lefts.keys(), ...rights.keys()]);
  return [...names].map((name) => ({ name, left: lefts.get(name), right: rights.get(name) }));
}

function byName(headers: readonly Header[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}

/** Texts with more different lines are paired line by line: what is common to them takes too long to find. */
const MAX_CELLS = 1_000_000;

/**
 * Pairs the lines of two texts, so that as many as possible are the same. `name` is the number of the line in the left
 * text, and in the right one where the left has none.
 */
export function pairLines(left: string, right: string): Pair[] {
  const [a, b] = [left.split('\n'), right.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const middle = anchors(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same: [number, number][] = [
    ...Array.from({ length: start }, (_, at): [number, number] => [at, at]),
    ...middle.map(([i, j]): [number, number] => [start + i, start + j]),
    ...Array.from({ length: end }, (_, at): [number, number] => [a.length - end + at, b.length - end + at]),
    [a.length, b.length],
  ];
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  for (const [toI, toJ] of same) {
    for (; i < toI || j < toJ; i += 1, j += 1) {
      const [inLeft, inRight] = [i < toI, j < toJ];
      pairs.push({
        name: String((inLeft ? i : j) + 1),
        left: inLeft ? a[i] : undefined,
        right: inRight ? b[j] : undefined,
      });
    }
    [i, j] = [toI, toJ];
    if (i < a.length && j < b.length) pairs.push({ name: String(i + 1), left: a[i], right: b[j] });
    [i, j] = [toI + 1, toJ + 1];
  }
  return pairs;
}

/** Returns the places of the longest common subsequence of lines. */
function anchors(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MAX_CELLS) return [];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return found;
}
