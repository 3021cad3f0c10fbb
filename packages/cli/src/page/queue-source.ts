import type { BodyView, Header } from './page-source.js';

/** So many letters are changed at a time. */
export const MOST_CHANGED = 1_000;
/** So many letters are in an answer. */
export const MOST_ROWS = 1_000;
/** A text that is searched has so many characters. */
export const MAX_TEXT = 1_000;

/**
 * The data and the actions of the view of a queue, which knows nothing else of the engine. Everything here is sent to the
 * browser as JSON. Text in it is bounded and has no control characters, since anyone who reached the queue may have
 * written it. Times are in milliseconds since the epoch, and each is a time that a Date can have.
 */
export interface QueueSource {
  /** For the document, before the queue is open. */
  readonly title: string;
  /** The same during a run of the program, in which handles are known. */
  readonly run: string;
  /**
   * Resolves to what is known at once, except for the first time. Reads the engine in the background where that is some
   * time ago, so that an engine is read only while a page asks.
   */
  state(): Promise<QueueState>;
  /** Resolves to a part of the dead letters that were listed. */
  letters(choice: LetterChoice, page: { offset: number; limit: number }): Promise<LetterPage>;
  /** Resolves to the oldest jobs in a state. Rejects where the engine does not list them. */
  jobs(state: 'waiting' | 'running'): Promise<JobPage>;
  /** Resolves to a job that was listed, as it is now; undefined where it is gone. */
  letter(handle: number): Promise<LetterDetails | undefined>;
  /**
   * Begins to change dead letters, the oldest `MOST_CHANGED` of a choice, and resolves to a sentence. `shown` is the
   * digest of those that the user was shown; one letter alone is known by its handle and needs none.
   *
   * @throws Failure where the choice has other letters now, and while another change runs
   */
  change(kind: ChangeKind, choice: LetterChoice, shown?: string): Promise<string>;
  /** Ends a change: what is not changed yet stays, and results are no longer awaited. */
  cancel(operation: number): void;
  /** Forgets a change that has ended. */
  dismiss(operation: number): void;
  /** Lists the dead letters again. */
  refresh(): void;
  /** Closes the queue. */
  close(): Promise<void>;
}

export type ChangeKind = 'retry' | 'discard';

/** Which of the listed dead letters: one, those of a group, those with a text in them; each part has to match. */
export interface LetterChoice {
  letter?: number | undefined;
  group?: string | undefined;
  text?: string | undefined;
  /** Whether the text is also searched in the bodies, which are then read from the engine. */
  bodies?: boolean | undefined;
}

export interface QueueState {
  /** As that of the source. */
  run: string;
  now: number;
  /** The name of the engine, and the engine with the place where it is. */
  engine: string;
  where: string;
  /** The name of the queue; undefined until it is open. */
  name?: string | undefined;
  /** The numbers of the queue; undefined until they are known. */
  stats?: { depth: number; oldestMs?: number | undefined; dead: number } | undefined;
  /** Why the engine cannot be read now. */
  problem?: string | undefined;
  listing: Listing;
  /** Why the engine does not list jobs in a state. */
  unlisted: { waiting?: string | undefined; running?: string | undefined };
  /** The changes of this run that were not dismissed, the newest first. */
  operations: readonly Operation[];
}

/** The dead letters that were listed, the oldest first, grouped by their reason. */
export interface Listing {
  /** Another number for each listing that found other letters; 0 until there is one. */
  version: number;
  isReading: boolean;
  /** When it was read. */
  at?: number | undefined;
  letters: number;
  /** Identifies the letters that a change of all of them would change. */
  digest: string;
  /** Whether the queue had more dead letters than are listed. */
  isCut: boolean;
  /** The largest groups. */
  groups: readonly LetterGroupRow[];
  /** The number of groups that are not among them, and of their letters. */
  others: { groups: number; letters: number };
}

export interface LetterGroupRow {
  id: string;
  /** The reason, with `…` in place of what differs. */
  reason: string;
  letters: number;
  /** Identifies the letters that a change of the group would change. */
  digest: string;
  types: readonly string[];
  /** The first and the last time of death. */
  oldest?: number | undefined;
  newest?: number | undefined;
}

/** A dead letter or another job in a list. */
export interface LetterRow {
  /** Stands for the job during this run, also where its id changes because it died again. */
  handle: number;
  id: string;
  /** The id as it is shown: as short as tells it from the others, and as `queue show` takes it. */
  shortId: string;
  /** Undefined where the body is not an event. */
  type?: string | undefined;
  eventId?: string | undefined;
  tenant?: string | undefined;
  /** The time of its last failure; of another job, the time of queueing. */
  at?: number | undefined;
  attempts?: number | undefined;
  reason?: string | undefined;
  /** Why the body of a delivery is not shown, and what to do about it. */
  notShown?: string | undefined;
}

export interface LetterPage {
  version: number;
  rows: readonly LetterRow[];
  /** How many there are of this choice. */
  total: number;
  /** Identifies the letters that a change of this choice would change. */
  digest: string;
}

export interface JobPage {
  rows: readonly LetterRow[];
  /** Whether there are more. */
  isCut: boolean;
}

export interface LetterDetails extends LetterRow {
  state: string;
  stack?: string | undefined;
  /** The name of the endpoint, the first part of the key. */
  endpoint?: string | undefined;
  key?: string | undefined;
  scheme?: string | undefined;
  receivedAt?: number | undefined;
  signedAt?: number | undefined;
  /** The headers that no signature covers. */
  unsigned: readonly Header[];
  /** Undefined where the job is not a delivery that this version can read. */
  body?: BodyView | undefined;
}

/** A change of dead letters that runs on the server. */
export interface Operation {
  id: number;
  kind: ChangeKind;
  phase: 'changing' | 'following' | 'ended';
  /** The number of letters to change, and of those that are changed. */
  total: number;
  changed: number;
  /** Those that were gone, because another operator was faster. */
  gone: number;
  /** Whether the engine tells how a retried letter ends. */
  isFollowed: boolean;
  handled: number;
  waiting: number;
  dead: number;
  /** Those that are dead again, with their new reasons; only the first ones. */
  deadAgain: readonly LetterRow[];
  isCancelled: boolean;
  /** Why it ended early, or what keeps it from going on. */
  problem?: string | undefined;
}
