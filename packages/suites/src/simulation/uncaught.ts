/** The errors that nothing has caught while a world was played. Node would have ended the process. */
export interface UncaughtErrors {
  /** The first one; undefined where there was none. */
  readonly first: { error: unknown } | undefined;
  /** Gives such errors to the listeners of the process again. */
  restore(): void;
}

/** Keeps rejections that nothing handles from ending the real process, and from its other listeners. */
export function catchUncaught(): UncaughtErrors {
  const others = process.listeners('unhandledRejection');
  let first: { error: unknown } | undefined;
  const listener = (error: unknown) => {
    first ??= { error };
  };
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', listener);
  return {
    get first() {
      return first;
    },
    restore() {
      process.removeListener('unhandledRejection', listener);
      for (const other of others) process.on('unhandledRejection', other);
    },
  };
}
