/** Between a reason, which is one line, and a stack. An error text of graphile-worker or another program does not have it. */
const BETWEEN = '\n\nStack: ';

/** The reason of a failure, and its stack where there is one. */
interface Failure {
  reason: string;
  stack?: string | undefined;
}

/** Returns a failure as one text, because graphile-worker has one column for it. */
export function errorText({ reason, stack }: Failure): string {
  return stack === undefined ? reason : reason + BETWEEN + stack;
}

/** Returns the failure of a text of {@link errorText}; of any other text, it is the reason. */
export function failureOf(text: string): Failure {
  const end = text.indexOf(BETWEEN);
  return end === -1 ? { reason: text } : { reason: text.slice(0, end), stack: text.slice(end + BETWEEN.length) };
}
