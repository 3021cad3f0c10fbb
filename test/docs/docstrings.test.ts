import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allSubpaths } from '../../scripts/subpaths.js';
import { compile, strictOptions } from '../support/compile.js';
import { type Example, examplesIn, publicNames, sourceFiles } from '../support/docstrings.js';
import { BY_MODULE, EVERYWHERE } from '../support/example-context.js';
import { ROOT } from '../support/markdown.js';

const names = publicNames();
const examples = sourceFiles().flatMap(examplesIn);

/** The modules that an example may use besides its own, the first of which has the name. */
const OTHERS = [
  'service-webhooks',
  'service-webhooks/queue',
  'service-webhooks/testing',
  'service-webhooks/queue/bullmq',
];

/** Where a program is compiled: in the repository, so that its node_modules are found. */
const pathOf = (at: string) => join(ROOT, '.examples', `${at.replaceAll(/\W/g, '-')}.ts`);

/** The module that exports what an example is about. */
function moduleOf({ at }: Example): string {
  const source = at.replace(/:\d+$/, '');
  const declared = names.find((name) => name.source === source) ?? expect.fail(`${source} exports nothing public`);
  return declared.name.replace(/#.*/, '');
}

/** The whole program of an example: with the imports and the surroundings that its reader has. */
function programOf(example: Example): string {
  const module = moduleOf(example);
  const context = BY_MODULE[module] ?? '';
  const isImported = (name: string) => new RegExp(`import[^;]*\\b${name}\\b[^;]*from`).test(context + example.code);
  const isUsed = (name: string) => new RegExp(`(?<!\\.)\\b${name}\\b(?!:)`).test(example.code);
  const found = new Map<string, string>();
  for (const from of [module, ...OTHERS]) {
    for (const name of names
      .filter((each) => each.modules.includes(from))
      .map((each) => each.name.replace(/.*#/, ''))) {
      if (isUsed(name) && !isImported(name) && !found.has(name)) found.set(name, from);
    }
  }
  const imports = [...found].map(([name, from]) => `import { ${name} } from '${from}';`);
  return [...imports, context, example.code, 'export {};'].join('\n');
}

describe('docstrings', () => {
  it('every public name has a docstring', () => {
    expect(names.length).toBeGreaterThan(300);
    expect(names.filter(({ docstring }) => docstring === '').map(({ name }) => name)).toEqual([]);
  });

  it('every public function has one example', () => {
    const others = names.filter(({ isFunction, examples: count }) => isFunction && count !== 1);
    expect(others.map(({ name, examples: count }) => `${name}: ${count}`)).toEqual([]);
  });

  it('the examples compile in strict TypeScript', () => {
    const programs = new Map(examples.map((example) => [pathOf(example.at), programOf(example)]));
    expect(programs.size).toBeGreaterThan(70);
    programs.set(pathOf('context'), EVERYWHERE);
    // The context of an example is longer than its needs.
    const options = strictOptions({ noUnusedLocals: false, noUnusedParameters: false, verbatimModuleSyntax: false });
    expect(compile(programs, { ...options, isolatedModules: false, erasableSyntaxOnly: false })).toEqual([]);
  });

  it('every module for which the examples get extra code exists', () => {
    const modules = allSubpaths.map(({ name }) => name);
    expect(Object.keys(BY_MODULE).filter((name) => !modules.includes(name))).toEqual([]);
  });
});
