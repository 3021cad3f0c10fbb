import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { serveListener } from '../../../../test/support/app.js';
import { later } from '../../../../test/support/deliveries.js';
import type { Output } from '../../src/output.js';

/** What a command ends with that could not do its work: a line on stderr, and nothing on stdout. */
export const failed = (exitCode: number, says: string | RegExp) => ({
  exitCode,
  stdout: '',
  stderr: typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
});

/** An app that answers nothing, and the moment when its first request came. */
export async function serveSilence(): Promise<{ url: string; asked: Promise<void> }> {
  const first = later();
  const { url } = await serveListener(() => first.resolve());
  return { url, asked: first.promise };
}

/** The names of the captures in a directory. */
export const capturesIn = (directory: string) => readdirSync(directory).filter((name) => /^[^.].*\.http$/.test(name));

/** The record that was printed, and the lines that people see in its place. */
export function printedBy(print: (out: Output) => void) {
  const printed: unknown[][] = [];
  print({ record: (...given: unknown[]) => void printed.push(given) } as unknown as Output);
  expect(printed).toHaveLength(1);
  const [record, ...lines] = printed[0] as [Record<string, unknown>, ...unknown[][]];
  return { record, lines };
}
