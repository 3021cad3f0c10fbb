import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What every program of an example is: short, and right in the strictest TypeScript. */
export function testSmallPrograms(
  folder: string,
  files: readonly string[],
  { declarations = [], ...settings }: ts.CompilerOptions & { declarations?: string[] } = {},
): void {
  it.each(files)('%s has at most forty lines', (file) => {
    expect(
      readFileSync(folder + file, 'utf8')
        .trimEnd()
        .split('\n').length,
    ).toBeLessThanOrEqual(40);
  });

  it('all programs compile in strict TypeScript', () => {
    const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const paths = [...files, ...declarations].map((file) => folder + file);
    const program = ts.createProgram(paths, { ...options, allowJs: true, checkJs: true, ...settings });
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(problems).toEqual([]);
  });
}
