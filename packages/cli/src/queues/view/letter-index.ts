import { createHash } from 'node:crypto';
import { printable } from 'service-webhooks/printable';
import { type LetterChoice, type LetterGroupRow, MOST_CHANGED } from '../../page/queue-source.js';
import { wordsOf } from '../../page/search-text.js';
import { type GroupedLetter, groupLetters, reasonPattern } from '../letter-groups.js';
import { type ListedLetter, typeWords } from '../listed-letter.js';
import type { OpenedQueue } from '../queue-engine.js';
import { readLetters } from '../read-letters.js';
import { shortIds } from '../short-ids.js';

/** A dead letter without its body. */
export interface IndexedLetter extends GroupedLetter {
  handle: number;
  /** Its place in the queue when it was listed. */
  offset: number;
  eventId: string | undefined;
  tenant: string | undefined;
  attempts: number | undefined;
  /** The key of its delivery: it stays when the letter is retried and dies again. */
  key: string | undefined;
  notShown: string | undefined;
  group: string;
}

/** The dead letters that were listed, the oldest first. */
export interface LetterIndex {
  letters: readonly IndexedLetter[];
  byHandle: ReadonlyMap<number, IndexedLetter>;
  /** By the key of the delivery, which several letters may have: the newest one. */
  byKey: ReadonlyMap<string, IndexedLetter>;
  groups: readonly LetterGroupRow[];
  digest: string;
  /** Returns an id as it is shown. */
  shortOf: (id: string) => string;
  isCut: boolean;
}

export const EMPTY_INDEX: LetterIndex = {
  letters: [],
  byHandle: new Map(),
  byKey: new Map(),
  groups: [],
  digest: digestOf([]),
  shortOf: shortIds([]),
  isCut: false,
};

/** So much is kept of letters before a listing ends. */
const MAX_KEPT_CHARS = 16 * 1024 * 1024;
const MAX_KEPT_TEXT = 1_000;
const MAX_TYPES = 5;

export interface ReadIndexOptions {
  /** The number of dead letters in the queue. */
  dead: number;
  nextHandle: () => number;
  /** Called for each letter that the engine returns. */
  onLetter: () => void;
  signal: AbortSignal;
}

/** Lists dead letters without their bodies. Letters that an earlier list has keep their handles. */
export async function readIndex(
  opened: OpenedQueue,
  earlier: LetterIndex,
  { dead, nextHandle, onLetter, signal }: ReadIndexOptions,
): Promise<LetterIndex> {
  const found: Omit<IndexedLetter, 'handle'>[] = [];
  let kept = 0;
  for await (const [offset, letter] of readLetters(opened, signal)) {
    onLetter();
    const one = withoutBody(offset, letter);
    kept += one.id.length + (one.key?.length ?? 0) + (one.reason?.length ?? 0);
    if (kept > MAX_KEPT_CHARS) break;
    found.push(one);
  }
  const letters = withHandles(found, earlier, nextHandle);
  return {
    letters,
    byHandle: new Map(letters.map((letter) => [letter.handle, letter])),
    byKey: new Map(letters.flatMap((letter) => (letter.key === undefined ? [] : [[letter.key, letter] as const]))),
    groups: groupLetters(letters).map(groupRow),
    digest: digestOf(letters),
    shortOf: shortIds(letters.map(({ id }) => id)),
    isCut: dead > letters.length,
  };
}

function withoutBody(offset: number, letter: ListedLetter): Omit<IndexedLetter, 'handle'> {
  const { id, type, eventId, tenant, at, attempts, key, notShown } = letter;
  const reason = letter.reason?.slice(0, MAX_KEPT_TEXT);
  return {
    ...{ id, offset, at, attempts, reason, group: groupOf(reason), notShown },
    type: type?.slice(0, MAX_KEPT_TEXT),
    eventId: eventId?.slice(0, MAX_KEPT_TEXT),
    tenant: tenant?.slice(0, MAX_KEPT_TEXT),
    key: key?.slice(0, MAX_KEPT_TEXT),
  };
}

/** A letter has the handle of the earlier one with its id; or of one with its key that is gone, because it died again. */
function withHandles(
  found: readonly Omit<IndexedLetter, 'handle'>[],
  earlier: LetterIndex,
  nextHandle: () => number,
): IndexedLetter[] {
  const ids = new Set(found.map(({ id }) => id));
  const byId = new Map(earlier.letters.map(({ id, handle }) => [id, handle]));
  const goneByKey = new Map(
    earlier.letters.flatMap(({ id, key, handle }) =>
      key === undefined || ids.has(id) ? [] : [[key, handle] as const],
    ),
  );
  const taken = new Set<number>();
  return found.map((letter) => {
    const known = byId.get(letter.id) ?? goneByKey.get(letter.key ?? '');
    const handle = known === undefined || taken.has(known) ? nextHandle() : known;
    taken.add(handle);
    return { ...letter, handle };
  });
}

function groupOf(reason: string | undefined): string {
  return createHash('sha256').update(reasonPattern(reason)).digest('hex').slice(0, 16);
}

function groupRow({ reason, letters }: { reason: string; letters: readonly IndexedLetter[] }): LetterGroupRow {
  const types = new Set(letters.map((letter) => printable(typeWords(letter).slice(0, 100))));
  const times = letters.flatMap(({ at }) =>
    Number.isFinite(new Date(at ?? Number.NaN).getTime()) ? [at as number] : [],
  );
  return {
    id: letters[0]?.group ?? '',
    reason: printable(reason.slice(0, 300)),
    letters: letters.length,
    digest: digestOf(letters),
    types: [...types].slice(0, MAX_TYPES),
    oldest: times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) : undefined,
    newest: times.length > 0 ? times.reduce((a, b) => Math.max(a, b)) : undefined,
  };
}

/** Whether two lists have the same letters in the same order. */
export function isSameList({ letters }: LetterIndex, { letters: others }: LetterIndex): boolean {
  const isSame = (one: IndexedLetter, other: IndexedLetter | undefined) =>
    one.id === other?.id && one.at === other.at && one.reason === other.reason && one.notShown === other.notShown;
  return letters.length === others.length && letters.every((letter, n) => isSame(letter, others[n]));
}

/** Identifies the letters that a change of these would change, in any order: an engine may list them in another one. */
export function digestOf(letters: readonly Pick<IndexedLetter, 'id' | 'at' | 'reason'>[]): string {
  const lines = letters.slice(0, MOST_CHANGED).map(({ id, at, reason }) => JSON.stringify([id, at, reason]));
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

/** Returns the letters of a choice. `inBodies`: those in whose bodies its text is. */
export function lettersOfChoice(
  { letters, byHandle }: LetterIndex,
  { letter, group, text = '' }: LetterChoice,
  inBodies: ReadonlySet<number> = new Set(),
): IndexedLetter[] {
  if (letter !== undefined) return [byHandle.get(letter)].filter((one) => one !== undefined);
  const words = wordsOf(text);
  return letters.filter(
    (one) =>
      (group === undefined || one.group === group) &&
      (words.length === 0 || inBodies.has(one.handle) || hasWords(textOf(one), words)),
  );
}

function textOf({ id, type, eventId, tenant, reason }: IndexedLetter): string {
  return [id, type, eventId, tenant, reason].join('\n');
}

export function hasWords(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
