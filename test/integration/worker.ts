import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { allSubpaths, subpaths } from '../../scripts/subpaths.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The library and the workers as JavaScript, for processes that vitest does not run. */
export function buildWorkers(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'service-webhooks-'));
  const built = (source: string) => source.replace(/\.ts$/, '.js');
  // The sources find the library and the packages beside it by their names.
  const exports = Object.fromEntries(
    subpaths.map(({ name, source }) => [name.replace('service-webhooks', '.'), `./${built(source)}`]),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'service-webhooks', type: 'module', exports }));
  for (const { name, source } of allSubpaths.filter(
    ({ entry, source }) => entry === 'index' && source.startsWith('packages/'),
  )) {
    const installed = join(folder, 'node_modules', name);
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(join(installed, 'index.js'), `export * from '../../${built(source)}';`);
  }
  for (const source of ['src', 'packages/emulator/src', 'packages/suites/src', 'test/integration'].flatMap(sourcesIn)) {
    const target = join(folder, source.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(target, ts.transpileModule(readFileSync(join(root, source), 'utf8'), { compilerOptions }).outputText);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = relative(root, join(root, folder, entry.name));
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesIn(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

/** Another process. It says one JSON value a line. */
export interface Worker {
  /** The next thing it says. Rejects when it ends without a further word. */
  next(): Promise<unknown>;
  /** Lets it go on. */
  go(): void;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export function startWorker(script: string, input: object): Worker {
  const child = spawn(process.execPath, [script, JSON.stringify(input)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<Awaited<Worker['ended']>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ended,
    go: () => child.stdin.write('\n'),
    async next() {
      const { done, value } = await lines.next();
      if (done) throw new Error(`${script} said no more and ended with ${JSON.stringify(await ended)}`);
      return JSON.parse(value);
    },
  };
}
