import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { onTestFinished } from 'vitest';
import { isInstalled } from '../../../../../test/integration/file-of.js';
import { ROOT } from '../../../../../test/support/markdown.js';

/** An empty app in a folder where the frameworks of examples/frameworks are found. */
export function emptyApp(packageJson: object): string {
  const parent = join(ROOT, 'examples/frameworks/.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'init-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson));
  return folder;
}

const CONSUMERS = 'test/integration/consumers';
export const hasJest = isInstalled(CONSUMERS);

/** Gives the app Jest, which runs its TypeScript as CommonJS. */
export function addJest(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  const jest = join(ROOT, CONSUMERS, 'node_modules/jest');
  symlinkSync(jest, join(modules, 'jest'));
  symlinkSync(join(jest, 'bin/jest.js'), join(modules, '.bin/jest'));
  writeFileSync(
    join(folder, 'transformer.cjs'),
    `const ts = require('typescript');
const compilerOptions = { module: 'commonjs', target: 'es2022', experimentalDecorators: true };
exports.process = (text) => ({ code: ts.transpileModule(text, { compilerOptions }).outputText });
`,
  );
}

/** What a compiler in strict mode says about the TypeScript of a folder. */
export function problemsOf(folder: string, resolution: 'node' | 'bundler'): string[] {
  const isNode = resolution === 'node';
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    module: isNode ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution: isNode ? ts.ModuleResolutionKind.NodeNext : ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    experimentalDecorators: true,
    skipLibCheck: true,
    noEmit: true,
    paths: {
      'service-webhooks': [join(ROOT, 'src/index.ts')],
      'service-webhooks/*': ['src/*.ts', 'src/*/index.ts', 'adapters/*.ts'].map((place) => join(ROOT, place)),
    },
  };
  const program = ts.createProgram(filesIn(folder, '.ts'), options);
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file?.fileName.startsWith(folder))
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}
