import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { captureOrFile, DEFAULT_DIRECTORY } from '../../captures.js';
import { asked, Failure, fileFailure } from '../../failure.js';
import type { OpenedQueue } from '../../queues/queue-engine.js';
import { withQueue } from '../../queues/queue-options.js';
import { mostLetters, readLetters } from '../../queues/read-letters.js';
import type { Session } from '../../session.js';
import { eventInBody, eventsIn, type SampleEvent } from './events-in.js';

/** How many deliveries were left out, and whether there are more than were read. */
export interface ReadResult {
  /** Without an event, in a directory or a queue, where senders of any kind may have put them. */
  left: number;
  /** The number of dead letters that were read, where the queue has more. */
  oldest?: number;
}

/**
 * Reads the events in files, in captures by their ids, in directories of captures, and in stdin for `-`. Without names:
 * those in the default directory. @throws Failure
 */
export async function readEvents(
  session: Session,
  names: readonly string[],
  learn: (event: SampleEvent) => void,
): Promise<ReadResult> {
  let left = 0;
  for (const name of names.length === 0 ? [DEFAULT_DIRECTORY] : names) {
    if (!(await isDirectory(name))) {
      if (names.length === 0) throw new Failure('file', `there are no deliveries in ${name}. ${HOW_TO_CAPTURE}`);
      const file = name === '-' ? name : await captureOrFile(name);
      for (const event of await eventsInFile(session, file)) learn(event);
      continue;
    }
    for (const file of await capturesIn(name)) {
      const bytes = await session.read(file);
      const events = attempted(() => eventsIn(bytes, file));
      if (events === undefined) left += 1;
      for (const event of events ?? []) learn(event);
    }
  }
  return { left };
}

/** What to do where there is no event. */
export const HOW_TO_CAPTURE =
  "Keep some with 'service-webhooks listen --capture', or name files with events, or a queue with --sqlite or --bullmq.";

/** Reads the events of the dead letters of the queue that options name. @throws Failure */
export async function readQueuedEvents(
  session: Session,
  options: object,
  learn: (event: SampleEvent) => void,
): Promise<ReadResult> {
  const learnAll = async (opened: OpenedQueue): Promise<ReadResult> => {
    let [read, left] = [0, 0];
    for await (const [, { id, body }] of readLetters(opened, session.signal)) {
      read += 1;
      const event = body && attempted(() => eventInBody(body, id));
      if (event === undefined) left += 1;
      else learn(event);
    }
    return read < mostLetters(opened) ? { left } : { left, oldest: read };
  };
  return withQueue(session, options, learnAll, { isExact: true });
}

async function eventsInFile(session: Session, file: string): Promise<SampleEvent[]> {
  const bytes = await session.read(file);
  return asked(
    () => eventsIn(bytes, file === '-' ? 'stdin' : file),
    (reason) => new Failure('file', reason),
  );
}

async function isDirectory(path: string): Promise<boolean> {
  return (
    path !== '-' &&
    (await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ))
  );
}

async function capturesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error) => {
    throw fileFailure(directory, error);
  });
  return names
    .filter((name) => /^[^.].*\.http$/.test(name))
    .sort()
    .map((name) => join(directory, name));
}

/** Returns undefined where there is no event. */
function attempted<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
