const SHORTEST = 8;

/** Whether an id is always shown as it is. A number is: its beginning is the id of another job. */
function isWhole(part: string): boolean {
  return part.length <= SHORTEST || /^\d+$/.test(part);
}

/** Returns what tells an id of an engine from its others: without the name of the endpoint that a key begins with. */
function distinctPart(id: string): string {
  return id.split('%3A').at(-1) ?? id;
}

/**
 * Returns the ids as people are shown them: as short as tells each from the others, and as `findLetters` takes them. An id
 * is whole where another one has the same distinct part, or one that begins with it.
 */
export function shortIds(ids: Iterable<string>): (id: string) => string {
  const parts = [...new Set(ids)].map(distinctPart).toSorted();
  const unclear = new Set(parts.filter((part, index) => isShownBy(part, parts[index + 1])));
  const shared = [...new Set(parts)].map((part, index, all) => {
    const before = all[index - 1] ?? '';
    return isWhole(before) && isWhole(part) ? 0 : commonLength(before, part);
  });
  const length = shared.reduce((longest, one) => Math.max(longest, one + 1), SHORTEST);
  return (id) => {
    const part = distinctPart(id);
    if (unclear.has(part)) return id;
    return isWhole(part) ? part : part.slice(0, length);
  };
}

/** Whether a part also stands for the next one in their order. */
function isShownBy(part: string, next: string | undefined): boolean {
  return part === next || (part.length >= SHORTEST && next?.startsWith(part) === true);
}

/** Whether a word is an id as it was shown: a beginning of at least 8 characters of what tells the id from others. */
export function isShortOf(word: string, id: string): boolean {
  const part = distinctPart(id);
  return part === word || (word.length >= SHORTEST && !isWhole(part) && part.startsWith(word));
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
