import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runtimes } from '../../runtimes/runtimes.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const folder = here('../../../examples/frameworks/');

/** A row of the README. */
export interface ExampleApp {
  name: string;
  script: string;
  path: string;
  /** How the README starts it, but on that port. */
  start(port: number): readonly string[];
}

/** The lines of the README that start an app of this folder. */
export const apps: readonly ExampleApp[] = [
  ...readFileSync(`${folder}README.md`, 'utf8').matchAll(/^\| ([\w ]+) \| \[([\w.-]+)\]\(\2\) \| `([^`]+)`(.*) \|$/gm),
].map(([, name = '', script = '', start = '', note = '']) => ({
  name,
  script,
  path: /path is `(.+?)`/.exec(note)?.[1] ?? '/webhooks',
  start: (port) => start.replace('3000', `${port}`).split(' '),
}));

/** What a program of the README is here; undefined where it is not installed. */
export function programOf(name: string): string | undefined {
  const [command] = runtimes.find((runtime) => runtime.name === name)?.command ?? [];
  return command;
}
