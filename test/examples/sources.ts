import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };

/** The library as JavaScript, for programs that vitest does not run. */
export function compileSources(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'service-webhooks-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const source of ['src', 'adapters'].flatMap(filesIn).filter((file) => file.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, source), 'utf8'), { compilerOptions });
    const target = join(folder, source.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** The same as the package `service-webhooks` among the modules of a folder, for what has a loader of its own. */
export function installSources(folder: string): void {
  const sources = compileSources();
  const library = join(folder, 'node_modules/service-webhooks');
  cpSync(sources.folder, library, { recursive: true });
  const exports = { '.': './src/index.js', './*': './adapters/*.js' };
  writeFileSync(join(library, 'package.json'), JSON.stringify({ name: 'service-webhooks', type: 'module', exports }));
  sources.remove();
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));
}
