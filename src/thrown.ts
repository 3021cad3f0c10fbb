/** The most stacks of an error and its causes that are printed: a cause may lead back to its error. */
const MAX_STACKS = 5;

/** Returns the stack of a thrown value and those of its causes: "fetch failed" says less than its cause. Never throws. */
export function stackOf(thrown: unknown, depth = 1): string {
  const stack = readThrown(() => (thrown as Partial<Error> | null)?.stack ?? textOfThrown(thrown));
  const cause = causeOf(thrown);
  if (cause === undefined || depth === MAX_STACKS) return stack;
  return `${stack}\nCaused by: ${stackOf(cause, depth + 1)}`;
}

/** Returns the name and the message of a thrown error, or another thrown value as text. Never throws. */
export function textOfThrown(thrown: unknown): string {
  return readThrown(() => (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : thrown));
}

/** Returns the cause of an error; undefined also where it cannot be read. */
function causeOf(thrown: unknown): unknown {
  try {
    return (thrown as Partial<Error> | null)?.cause;
  } catch {
    return undefined;
  }
}

/** Reads a thrown value, which may be an object whose getters throw. */
function readThrown(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return 'The thrown value cannot be printed.';
  }
}
