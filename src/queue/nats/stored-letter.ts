import { parsedJob } from '../stored-values.js';
import type { NatsStoredMessage } from './jetstream.js';

/** A dead letter, as a worker stores it. */
export interface StoredLetter {
  job?: unknown;
  attempts?: unknown;
  reason?: unknown;
  stack?: unknown;
}

/**
 * A dead letter takes at most this many bytes more than its job. A large job is put with as many, so that one whose dead letter
 * would exceed the server's limit is refused at the put.
 */
const [LARGE_JOB, ROOM] = [65_536, 8_192];
/** The part of it for the headers of a message, which count too. */
const HEADERS = 1_024;

/** How much larger than its job the largest message of a job is, with its headers. */
export const LETTER_BYTES = ROOM + HEADERS;

/** Returns the text of a job as it is put. */
export function jobText(job: string): string {
  return job.length < LARGE_JOB ? job : job.padEnd(job.length + ROOM);
}

/** Returns the text of a dead letter, with as much of the stack as there is room for. */
export function letterText(
  job: unknown,
  { attempts, reason, stack = '' }: { attempts: number; reason: string; stack?: string | undefined },
): string {
  const about = { attempts, reason, stack: stack || undefined };
  while (about.stack && utf8Length(JSON.stringify(about)) > ROOM - HEADERS)
    about.stack = about.stack.slice(0, about.stack.length / 2);
  return JSON.stringify({ job, ...about });
}

/** Returns a dead letter, in which another program may have stored any value. */
export function storedLetter(message: NatsStoredMessage): StoredLetter {
  return Object(parsedJob(message.string()));
}

const utf8Length = (text: string) => new TextEncoder().encode(text).length;
