import { createInterface } from 'node:readline';

/** What the test gives a worker. */
export function input<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}');
}

/** Says one thing to the test. */
export function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Until the test says go. */
export async function wait(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  await lines[Symbol.asyncIterator]().next();
  lines.close();
}
