import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import ts from 'typescript';
import { ROOT } from '../../support/markdown.js';

/** A program of the documentation in a process of its own. */
export interface Program {
  /** What it has printed. */
  lines: readonly string[];
  /** The port of its server; undefined until it listens. */
  port(): number | undefined;
  /** How it has ended, with what it has printed; undefined while it runs. */
  exited(): string | undefined;
  /** Asks it to end, as a deployment does, and resolves to its exit code. */
  terminate(): Promise<number | null>;
  kill(): void;
}

/** Returns the code blocks of a section of docs/queues.md, word for word; the first section has the title of the page. */
export function blocksOf(heading: string): string[] {
  const sections = readFileSync(join(ROOT, 'docs/queues.md'), 'utf8').split(/^##? /m);
  const section = sections.find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```ts no-run\n(.*?)^```$/gms)].map(([, code = '']) => code);
}

const loader = new URL('../from-sources.mjs', import.meta.url).href;
const inTest = new URL('in-test.mjs', import.meta.url).href;

/** Starts the code of a block. Its file is in a folder of the repository, so that Node finds the packages. */
export function startProgram(code: string, { folder, env }: { folder: string; env: Record<string, string> }): Program {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const file = join(folder, `${crypto.randomUUID()}.mjs`);
  writeFileSync(file, ts.transpileModule(code, { compilerOptions }).outputText);
  const child = spawn(process.execPath, ['--import', loader, '--import', inTest, file], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return {
    lines,
    port() {
      const [, port] = /^port (\d+)$/m.exec(lines.join('\n')) ?? [];
      return port === undefined ? undefined : Number(port);
    },
    exited() {
      const end = child.exitCode ?? child.signalCode;
      return end === null ? undefined : `${end}\n${lines.join('\n')}`;
    },
    async terminate() {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
    kill: () => child.kill('SIGKILL'),
  };
}
