import { join } from 'node:path';
import ts from 'typescript';
import { isInstalled } from '../integration/file-of.js';
import { ROOT } from './markdown.js';

/** The modules that stand apart from the root, and where they are. */
const APART: Readonly<Record<string, string>> = {
  '@nestjs/common': 'test/integration/nest-11',
  '@nestjs/core': 'test/integration/nest-11',
  '@nestjs/platform-express': 'test/integration/nest-11',
  '@azure/functions': 'test/integration/frameworks',
  '@google-cloud/functions-framework': 'test/integration/frameworks',
};

/** Whether every module that a program imports is on this machine; what is not is reported as a missing part. */
export function canCompile(code: string): boolean {
  return Object.entries(APART).every(([name, folder]) => !code.includes(`'${name}'`) || isInstalled(folder));
}

/** The options of the repository, as a user of strict TypeScript has them, with the decorators of Nest. */
export function strictOptions(more: ts.CompilerOptions = {}): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...options, experimentalDecorators: true, ...more };
}

/** Compiles programs that need not be on the disk, by their paths. Returns `<path>:<line> <problem>` for each problem. */
export function compile(programs: ReadonlyMap<string, string>, options: ts.CompilerOptions): string[] {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => programs.has(path) || fileExists(path);
  host.readFile = (path) => programs.get(path) ?? readFile(path);
  host.resolveModuleNameLiterals = (literals, containingFile, redirected, _options, file) =>
    literals.map((literal) => {
      const folder = APART[literal.text];
      const from = folder === undefined ? containingFile : join(ROOT, folder, 'program.ts');
      const mode = ts.getModeForUsageLocation(file, literal, options);
      return ts.resolveModuleName(literal.text, from, options, host, undefined, redirected, mode);
    });
  const program = ts.createProgram([...programs.keys()], options, host);
  return [...programs.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ start = 0, messageText }) => {
      const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${path}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
  });
}
