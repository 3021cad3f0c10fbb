import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './markdown.js';

/** The options of the repository, as a user of strict TypeScript has them, with the decorators of Nest. */
export function strictOptions(more: ts.CompilerOptions = {}): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...options, experimentalDecorators: true, ...more };
}

/**
 * Compiles programs that need not be on the disk, by their paths. Returns `<path>:<line> <problem>` for each problem. A
 * program that declares the data of events is compiled without the others, which it would change.
 */
export function compile(programs: ReadonlyMap<string, string>, options: ts.CompilerOptions): string[] {
  const declares = ([, text]: [string, string]) => text.includes("declare module 'service-webhooks'");
  const [alone, together] = [[...programs].filter(declares), [...programs].filter((program) => !declares(program))];
  return [together, ...alone.map((program) => [program])].flatMap((some) => compileTogether(new Map(some), options));
}

/** As {@link compile}, in one program. */
export function compileTogether(programs: ReadonlyMap<string, string>, options: ts.CompilerOptions): string[] {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => programs.has(path) || fileExists(path);
  host.readFile = (path) => programs.get(path) ?? readFile(path);
  const folders = new Set([...programs.keys()].map(dirname));
  host.directoryExists = (path) => folders.has(path) || ts.sys.directoryExists(path);
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
