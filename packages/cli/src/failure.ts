import type { WebhookError } from 'service-webhooks';

/** The exit codes of a command; the table in `docs/cli.md`. */
export const EXIT = {
  /** Done, and the answer is yes: acknowledged, verified, every probe passed. */
  ok: 0,
  /** Done, and the answer is no. */
  no: 1,
  /** The request cannot be carried out: a wrong argument or option, or a missing secret. */
  usage: 2,
  /** A file cannot be read or written, or has the wrong content. */
  file: 3,
  /** The other side cannot be reached or did not answer, or the port is not available. */
  network: 4,
  /** A fault of this program. */
  fault: 70,
  /** Ctrl+C before the end. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The error that ends a command, in one line: what happened, and what to do about it. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(kind: keyof typeof EXIT, message: string) {
    super(message);
    this.exitCode = EXIT[kind];
  }
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; check the path',
  EISDIR: 'that is a directory; name a file in it',
  ENOTDIR: 'a part of the path is a file; check the path',
  EACCES: 'it may not be opened; check its permissions',
  EPERM: 'it may not be opened; check its permissions',
  EROFS: 'the file system is read-only; choose another place',
  ENOSPC: 'the disk is full; make room, or choose another place',
  EEXIST: 'there is a file in its place; choose another name',
  ENAMETOOLONG: 'the path is too long; check it',
};

/** Returns the failure of a file operation, in words. */
export function fileFailure(path: string, error: unknown): Failure {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  return new Failure('file', `${path}: ${FILE_ERRORS[code] ?? message}`);
}

/** Whether the library has thrown an error. Known by its name, because every start of the program would load the library. */
export function isLibraryError(error: unknown): error is WebhookError {
  return error instanceof Error && error.name === 'WebhookError' && 'problem' in error && 'code' in error;
}

/** Returns what an error says. Some errors of a connection have only a code. */
export function reasonOf(error: unknown): string {
  const { message = '', code = '' } = Object(error) as { message?: string; code?: string };
  return message || code || String(error);
}

/** Turns what a library throws into a Failure. A Failure, and a wrong option, are for the user already and stay. */
export async function asked<T>(call: () => T | Promise<T>, failure: (reason: string) => Failure): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isForUser = error instanceof Failure || (isLibraryError(error) && error.code === 'invalid_option');
    throw isForUser ? error : failure(reasonOf(error));
  }
}
