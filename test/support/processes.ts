import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'tsup';

/** Starts a file of these tests in processes of their own. */
export interface Program {
  /** `flags` are those of Node. */
  start(task: object, flags?: readonly string[]): TestProcess;
  remove(): void;
}

export interface TestProcess {
  /** The next thing it says. Rejects when it ends without a further word. */
  next(): Promise<unknown>;
  /** Lets it go on. */
  go(): void;
  /** As `kill -9` does. */
  kill(): Promise<void>;
}

/** Built where the packages of this repository are found. */
export async function buildProgram(source: string): Promise<Program> {
  const cache = join(import.meta.dirname, '../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, 'program-'));
  await build({
    entry: [source],
    outDir,
    format: 'esm',
    target: 'node20',
    dts: false,
    silent: true,
    config: false,
    skipNodeModulesBundle: true,
  });
  const file = join(outDir, basename(source).replace(/\.ts$/, '.js'));
  return { start: (task, flags) => start(file, task, flags), remove: () => rmSync(outDir, { recursive: true }) };
}

function start(file: string, task: object, flags: readonly string[] = []): TestProcess {
  const child = fork(file, [JSON.stringify(task)], { execArgv: [...flags] });
  const ended = once(child, 'exit');
  const said = on(child, 'message', { close: ['exit'] });
  return {
    go: () => child.send('go'),
    async next() {
      const { done, value } = await said.next();
      if (done) throw new Error(`${basename(file)} ended without a word`);
      return value[0];
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
