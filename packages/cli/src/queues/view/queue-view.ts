import { printable } from 'service-webhooks/printable';
import { Failure } from '../../failure.js';
import { counted } from '../../output.js';
import { type LetterChoice, MOST_CHANGED, type QueueSource } from '../../page/queue-source.js';
import { wordsOf } from '../../page/search-text.js';
import { letterPages } from '../letter-selection.js';
import { type ListedLetter, listedLetter } from '../listed-letter.js';
import type { OpenedQueue } from '../queue-engine.js';
import type { PlacedQueue } from '../queue-options.js';
import { mostLetters, readLetters } from '../read-letters.js';
import { shortIds } from '../short-ids.js';
import { type Pause, realPause } from '../within.js';
import { bodySearches } from './body-searches.js';
import { type KeptOpen, keepOpen } from './kept-open.js';
import { digestOf, EMPTY_INDEX, hasWords, type IndexedLetter, lettersOfChoice } from './letter-index.js';
import { letterDetails, letterRow } from './letter-rows.js';
import { queueReadings } from './queue-readings.js';
import { type RunningOperation, startOperation } from './start-operation.js';

export interface QueueViewOptions {
  /** The queue, where it is open already. */
  opened?: OpenedQueue | undefined;
  /** Returns milliseconds since the epoch. */
  now?: () => number;
  /** For tests. */
  pause?: Pause;
}

const MOST_GROUPS = 100;
const MOST_JOBS = 100;
/** So many changes are kept. */
const MOST_OPERATIONS = 10;
const MOST_SHOWN_AGAIN = 50;
/** Around the place where a letter was listed, since others may have left the queue. */
const AROUND = 20;

/** Returns the source of the page of a queue. It reads nothing until a page asks. */
export function queueView(
  { engine, where, open }: PlacedQueue,
  { opened, now = Date.now, pause = realPause }: QueueViewOptions = {},
): QueueSource {
  const queue = keepOpen({ open, first: opened, pause });
  const run = crypto.randomUUID();
  let handles = 0;
  const nextHandle = () => ++handles;
  let jobs = new Map<number, { state: 'waiting' | 'running'; id: string }>();
  let shortOfJob = EMPTY_INDEX.shortOf;
  let operations: RunningOperation[] = [];
  const isChanging = () => operations.some((operation) => operation.view().phase === 'changing');
  const isFollowing = () => operations.some((operation) => operation.view().phase !== 'ended');
  const readings = queueReadings({
    ...{ queue, where, now, pause, nextHandle, isChanging, isFollowing },
    name: opened?.queue.name,
  });
  const searches = bodySearches((text, signal) => queue.use((opened) => readMatches(opened, text, signal)));

  async function readMatches(opened: OpenedQueue, text: string, signal: AbortSignal): Promise<ReadonlySet<number>> {
    const byId = new Map(readings.index.letters.map(({ id, handle }) => [id, handle]));
    const words = wordsOf(text);
    const found = new Set<number>();
    for await (const [, { id, body }] of readLetters(opened, signal)) {
      const handle = byId.get(id);
      if (handle !== undefined && hasWords(body?.toString() ?? '', words)) found.add(handle);
    }
    return found;
  }

  /** Resolves to the letters in whose bodies the text of a choice is, where that is asked. */
  async function inBodies({ text = '', bodies = false }: LetterChoice): Promise<ReadonlySet<number> | undefined> {
    return bodies && text !== '' ? searches.find(text, readings.listing.version) : undefined;
  }

  /** Whether a letter is dead again, and further back in the queue than those that are listed. */
  function isDeadBeyond(handle: number): boolean {
    const { isCut } = readings.index;
    return isCut && operations.some(({ deadAgain }) => deadAgain.some(({ letter }) => letter.handle === handle));
  }

  function viewOperation(operation: RunningOperation) {
    const { index, listing } = readings;
    const deadAgain = operation.deadAgain.slice(0, MOST_SHOWN_AGAIN).map(({ letter, at }) => {
      const again = index.byKey.get(letter.key ?? '') ?? index.byHandle.get(letter.handle);
      const isListed = again !== undefined && listing.begunAt >= at;
      const shown = isListed ? again : { ...letter, reason: undefined };
      return letterRow(again?.handle ?? letter.handle, shown, index.shortOf);
    });
    return { ...operation.view(), deadAgain };
  }

  return {
    title: `Queue · ${where}`,
    run,

    async state() {
      await readings.asked();
      const { name, stats, problem, index, listing } = readings;
      const shown = index.groups.slice(0, MOST_GROUPS);
      const letters = shown.reduce((sum, group) => sum + group.letters, 0);
      const { version, isReading, at } = listing;
      return {
        ...{ run, now: now(), engine: engine.name, name: name && printable(name), where, stats, problem },
        listing: {
          ...{ version, isReading, at, letters: index.letters.length, digest: index.digest },
          ...{ isCut: index.isCut, groups: shown },
          others: { groups: index.groups.length - shown.length, letters: index.letters.length - letters },
        },
        unlisted: { waiting: engine.unlisted?.waiting, running: engine.unlisted?.running },
        operations: operations.map(viewOperation),
      };
    },

    async letters(choice, { offset, limit }) {
      const matches = await inBodies(choice);
      const { index, listing } = readings;
      const chosen = lettersOfChoice(index, choice, matches);
      const rows = chosen
        .slice(offset, offset + limit)
        .map((letter) => letterRow(letter.handle, letter, index.shortOf));
      return { version: listing.version, rows, total: chosen.length, digest: digestOf(chosen) };
    },

    async jobs(state) {
      const reason = engine.unlisted?.[state];
      if (reason !== undefined)
        throw new Failure('usage', `${engine.name} cannot list jobs that are ${state}: ${reason}.`);
      const found = await queue.use((opened) => readJobs(opened, state));
      const known = new Map([...jobs].map(([handle, job]) => [`${job.state} ${job.id}`, handle]));
      const rows = found.slice(0, MOST_JOBS).map((job) => {
        const handle = known.get(`${state} ${job.id}`) ?? nextHandle();
        return { handle, job };
      });
      jobs = new Map([
        ...[...jobs].filter(([, job]) => job.state !== state),
        ...rows.map(({ handle, job: { id } }) => [handle, { state, id }] as const),
      ]);
      shortOfJob = shortIds([...jobs.values()].map(({ id }) => id));
      return {
        rows: rows.map(({ handle, job }) => letterRow(handle, job, shortOfJob)),
        isCut: found.length > MOST_JOBS,
      };
    },

    async letter(handle) {
      const { index } = readings;
      const job = jobs.get(handle);
      const letter = index.byHandle.get(handle);
      if (job === undefined && letter === undefined && isDeadBeyond(handle)) {
        const listed = counted(index.letters.length, 'dead letter');
        throw new Failure('usage', `It is dead again, and behind the oldest ${listed}. The page lists no others.`);
      }
      const found = await (job ? findJob(queue, job) : letter && findLetter(queue, letter));
      return found && letterDetails(handle, found, job ? shortOfJob : index.shortOf);
    },

    async change(kind, choice, shown) {
      if (isChanging()) throw new Failure('usage', 'Another change runs: wait for its end, or cancel it.');
      const matches = await inBodies(choice);
      const all = lettersOfChoice(readings.index, choice, matches);
      const letters = all.slice(0, MOST_CHANGED);
      if (letters.length === 0) throw new Failure('usage', 'It is no longer among the dead letters.');
      if (choice.letter === undefined && digestOf(all) !== shown) {
        const problem = 'The list has changed since it was shown';
        const count = counted(all.length, 'dead letter');
        throw new Failure('usage', `${problem}, and has ${count} of this choice now. Nothing was changed. Try again.`);
      }
      if (isChanging()) throw new Failure('usage', 'Another change runs: wait for its end, or cancel it.');
      const operation = startOperation({ id: nextHandle(), kind, letters, queue, now, pause });
      operations = [operation, ...operations];
      for (const oldest of operations.splice(MOST_OPERATIONS)) oldest.cancel();
      void operation.changed.then(readings.want);
      void operation.ended.then(readings.want);
      return `${kind === 'retry' ? 'Retrying' : 'Discarding'} ${counted(letters.length, 'dead letter')}.`;
    },

    cancel: (id) => operations.find((operation) => operation.view().id === id)?.cancel(),

    dismiss(id) {
      operations = operations.filter((one) => one.view().id !== id || one.view().phase !== 'ended');
    },

    refresh: readings.refresh,

    async close() {
      readings.close();
      searches.close();
      for (const operation of operations) operation.cancel();
      await queue.close();
    },
  };
}

async function readJobs(opened: OpenedQueue, state: 'waiting' | 'running'): Promise<ListedLetter[]> {
  const found: ListedLetter[] = [];
  for (const read of opened.jobs?.(state, {}) ?? []) {
    for await (const job of letterPages(read)) {
      found.push(listedLetter(job, opened));
      if (found.length > MOST_JOBS) return found;
    }
  }
  return found;
}

function findJob(queue: KeptOpen, { state, id }: { state: 'waiting' | 'running'; id: string }) {
  return queue.use(async (opened) => (await readJobs(opened, state)).find((job) => job.id === id));
}

/** Reads the letters around the place where it was listed, and all of them only where it is not there. */
function findLetter(queue: KeptOpen, { id, offset }: IndexedLetter): Promise<ListedLetter | undefined> {
  return queue.use(async (opened) => {
    const most = mostLetters(opened);
    const from = opened.hasNoPages ? 0 : Math.max(0, offset - AROUND / 2);
    const limit = opened.hasNoPages ? most : AROUND;
    const near = await opened.queue.deadLetters({ limit, offset: from });
    const found = near.find((letter) => letter.id === id);
    if (found !== undefined || opened.hasNoPages) return found && listedLetter(found, opened);
    let read = 0;
    for await (const letter of letterPages((page) => opened.queue.deadLetters(page))) {
      if (letter.id === id) return listedLetter(letter, opened);
      read += 1;
      if (read === most) return undefined;
    }
    return undefined;
  });
}
