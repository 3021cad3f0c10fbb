import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileFailure } from '../../failure.js';
import type { ReceiverFiles } from './receiver-files.js';

/** One file and its change: an existing file is kept, and only the environment gets another line. */
export interface PlannedFile {
  path: string;
  action: 'create' | 'append' | 'keep';
  text: string;
}

/** Returns what would be written into a folder. */
export function planFiles(folder: string, { files, env }: ReceiverFiles): PlannedFile[] {
  const routes = files.map(({ path, text }): PlannedFile => {
    return { path, action: existsSync(join(folder, path)) ? 'keep' : 'create', text };
  });
  return [...routes, planEnv(folder, env)];
}

function planEnv(folder: string, { path, line }: ReceiverFiles['env']): PlannedFile {
  const file = join(folder, path);
  const present = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (present === undefined) return { path, action: 'create', text: `${line}\n` };
  if (/^\s*(?:export\s+)?WEBHOOK_SECRET\s*=/m.test(present)) return { path, action: 'keep', text: '' };
  return { path, action: 'append', text: `${present === '' || present.endsWith('\n') ? '' : '\n'}${line}\n` };
}

/** Writes the planned files. A file that has appeared in the meantime is not overwritten. @throws Failure */
export function writeFiles(folder: string, planned: readonly PlannedFile[]): void {
  for (const { path, action, text } of planned) {
    if (action === 'keep') continue;
    const file = join(folder, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      if (action === 'append') appendFileSync(file, text);
      else writeFileSync(file, text, { flag: 'wx' });
    } catch (error) {
      throw fileFailure(path, error);
    }
  }
}
