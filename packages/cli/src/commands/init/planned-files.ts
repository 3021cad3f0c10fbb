import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { fileFailure } from '../../failure.js';
import { randomSecret } from '../../secrets.js';
import type { WrittenFile } from './receiver-files.js';

/** One file and its change: a file is created or gets a line, and an empty secret gets a value. Nothing else is changed. */
export interface PlannedFile {
  path: string;
  action: 'create' | 'append' | 'fill' | 'keep';
  /** What is written, with {@link SHOWN_SECRET} for the secret, which exists only in the file. */
  text: string;
}

/** What stands for the secret on the terminal. */
export const SHOWN_SECRET = 'whsec_…';

const LINE = `WEBHOOK_SECRET=${SHOWN_SECRET}`;

/** Returns what would be written into a folder. */
export function planFiles(folder: string, files: readonly WrittenFile[], envFile: string): PlannedFile[] {
  const routes = files.map(({ path, text }): PlannedFile => {
    return { path, action: existsSync(join(folder, path)) ? 'keep' : 'create', text };
  });
  return [...routes, planEnv(folder, envFile), ...planGitignore(folder, envFile)];
}

function planEnv(folder: string, path: string): PlannedFile {
  const present = textOf(folder, path);
  if (present === undefined) return { path, action: 'create', text: `${LINE}\n` };
  const { WEBHOOK_SECRET: secret } = parseEnv(present) as { WEBHOOK_SECRET?: string };
  if (secret === undefined) return append(path, present, LINE);
  return secret.trim() === '' ? { path, action: 'fill', text: `${LINE}\n` } : { path, action: 'keep', text: '' };
}

/**
 * The line that keeps the secret out of git. Also in a folder without a repository: most get one later, and a secret in the
 * first commit stays in its history.
 */
function planGitignore(folder: string, envFile: string): PlannedFile[] {
  const path = '.gitignore';
  const present = textOf(folder, path);
  if (isIgnored(folder, envFile, present ?? '')) return [];
  return [present === undefined ? { path, action: 'create', text: `${envFile}\n` } : append(path, present, envFile)];
}

function isIgnored(folder: string, file: string, gitignore: string): boolean {
  const { status } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', file], {
    cwd: folder,
    stdio: 'ignore',
  });
  if (status === 0 || status === 1) return status === 0;
  // No git, or no repository: the usual ways to write it.
  const lines = gitignore.split('\n').map((line) => line.trim());
  return [file, `${file}*`].some((pattern) => ['', '/', '**/'].some((root) => lines.includes(`${root}${pattern}`)));
}

function append(path: string, present: string, line: string): PlannedFile {
  return { path, action: 'append', text: `${present === '' || present.endsWith('\n') ? '' : '\n'}${line}\n` };
}

function textOf(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Writes the planned files. A file that has appeared in the meantime is not overwritten. @throws Failure */
export function writeFiles(folder: string, planned: readonly PlannedFile[]): void {
  for (const { path, action, text } of planned) {
    if (action === 'keep') continue;
    const file = join(folder, path);
    const written = text.replace(SHOWN_SECRET, randomSecret);
    try {
      mkdirSync(dirname(file), { recursive: true });
      if (action === 'append') appendFileSync(file, written);
      else if (action === 'fill') writeFileSync(file, withSecret(readFileSync(file, 'utf8'), written.trim()));
      else writeFileSync(file, written, { flag: 'wx' });
    } catch (error) {
      throw fileFailure(path, error);
    }
  }
}

/** Returns the text with the value in the last line that sets the variable: of several lines, the last counts. */
function withSecret(text: string, line: string): string {
  return text.replace(
    /^([ \t]*(?:export[ \t]+)?)WEBHOOK_SECRET[ \t]*=.*$(?![\s\S]*^[ \t]*(?:export[ \t]+)?WEBHOOK_SECRET[ \t]*=)/m,
    `$1${line}`,
  );
}
