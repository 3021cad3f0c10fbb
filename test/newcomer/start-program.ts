import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileSources } from '../examples/sources.js';
import { SECRET } from '../support/deliveries.js';

const RUNNER = fileURLToPath(new URL('../support/run-block.mjs', import.meta.url));
const LOADER = new URL('../examples/from-sources.mjs', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the programs of newcomers, in processes of their own. */
export interface Programs {
  /** Resolves when the program listens or has ended. */
  start(code: string): Promise<Program>;
  remove(): void;
}

/** A program that was started. */
export interface Program {
  /** Where it listens; undefined where it has ended without. */
  readonly port: number | undefined;
  /** Ends it, and resolves to all that it printed. */
  terminal(): Promise<string>;
}

export function newcomerPrograms(): Programs {
  const sources = compileSources();
  const cache = join(ROOT, 'node_modules/.cache'); // where the packages of the programs are found
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'newcomer-'));
  let count = 0;

  async function start(code: string): Promise<Program> {
    count += 1;
    const file = join(folder, `app-${count}.mjs`);
    writeFileSync(file, code);
    const env = { ...process.env, SOURCES: sources.folder, WEBHOOK_SECRET: SECRET };
    const child = fork(RUNNER, [file], { cwd: folder, env, execArgv: ['--import', LOADER], silent: true });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        printed += chunk;
      });
    const ended = once(child, 'close');
    const listening = once(child, 'message').then(([{ port }]) => port as number);
    const port = await Promise.race([listening, ended.then(() => undefined)]);
    return {
      port,
      async terminal() {
        child.kill();
        await ended;
        return printed;
      },
    };
  }

  return {
    start,
    remove() {
      sources.remove();
      rmSync(folder, { recursive: true });
    },
  };
}
