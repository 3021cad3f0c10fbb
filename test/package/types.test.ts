import { describe, expect, it } from 'vitest';
import {
  beside,
  type Consumer,
  entriesOf,
  isInstalled,
  makeConsumer,
  makeWorkshop,
  manifest,
  program,
} from './consumer.js';

const compilers = ['typescript5.5', 'typescript5', 'typescript6', 'typescript7'];
const resolutions = [
  { moduleResolution: 'nodenext', module: 'nodenext' },
  { moduleResolution: 'node16', module: 'node16' },
  { moduleResolution: 'bundler', module: 'preserve' },
  { moduleResolution: 'node10', module: 'commonjs', esModuleInterop: true },
];

/** The resolutions of a compiler: TypeScript 6 has to be asked for `node10`, and 7 has removed it. */
function resolutionsOf(compiler: string) {
  if (compiler === 'typescript7') return resolutions.filter(({ moduleResolution }) => moduleResolution !== 'node10');
  if (compiler === 'typescript6') return resolutions.map((options) => ({ ...options, ignoreDeprecations: '6.0' }));
  return resolutions;
}

/** What is installed, its entries, and programs that are right and wrong. */
interface Kind {
  kind: string;
  make: typeof makeConsumer;
  names: string[];
  right: Record<string, string>;
  wrong: string;
}

const receiver: Kind = {
  kind: 'the receiver alone',
  make: makeConsumer,
  names: entriesOf(manifest).map(({ name }) => name),
  right: {
    'frameworks.mts': 'frameworks.ts',
    'frameworks.cts': 'frameworks.ts',
    'event-data.mts': 'event-data.ts',
    'event-data.cts': 'event-data.ts',
    // h3 2 has no CommonJS; h3 1 is not here.
    'h3.mts': 'h3.ts',
  },
  wrong: 'wrong.ts',
};

const workshop: Kind = {
  kind: 'the packages beside it',
  make: makeWorkshop,
  names: beside.flatMap(entriesOf).map(({ name }) => name),
  right: { 'workshop.mts': 'workshop.ts', 'workshop.cts': 'workshop.ts' },
  wrong: 'wrong-workshop.ts',
};

const cases = [receiver, workshop].flatMap((kind) =>
  compilers.flatMap((compiler) => resolutionsOf(compiler).map((options) => ({ ...kind, compiler, options }))),
);

describe.skipIf(!isInstalled('consumers'))('a strict project', () => {
  it.each(cases)(
    'every entry of $kind resolves to its types: $compiler, $options.moduleResolution',
    ({ compiler, options, make, names, right, wrong }) => {
      // A project with node10 has CommonJS alone.
      const formats = options.moduleResolution === 'node10' ? ['cts'] : ['cts', 'mts'];
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
      const compilerOptions = { target: 'es2022', noEmit: true, skipLibCheck: false, types: ['node'], ...strict };
      const consumer = make(
        {
          'tsconfig.json': JSON.stringify({
            compilerOptions: { ...compilerOptions, ...options },
            include: formats.map((format) => `*.${format}`),
          }),
        },
        'consumers',
      );
      const everyEntry = typesOfNames(consumer, names);
      consumer.write('every-entry.mts', everyEntry);
      consumer.write('every-entry.cts', everyEntry);
      for (const [file, name] of Object.entries(right)) consumer.write(file, program(name));
      consumer.write('wrong.mts', program(wrong));
      consumer.write('wrong.cts', program(wrong));

      const { output } = consumer.attempt([`node_modules/${compiler}/bin/tsc`, '-p', '.', '--pretty', 'false']);
      const errors = output.split('\n').filter((line) => line.includes('error TS'));
      // The mistakes are seen: the types are there, and none of them is any.
      const seen = errors.filter((line) => /^wrong\.[mc]ts/.test(line)).map((line) => line.replace(/: error.*/, ''));
      const mistakes = formats.flatMap((format) => mistakesIn(`wrong.${format}`, program(wrong)));
      expect(seen.toSorted()).toEqual(mistakes.toSorted());
      const others = errors.filter((line) => !line.startsWith('wrong.') && !NOT_OURS.test(line));
      expect(others).toEqual([]);
    },
  );
});

/**
 * Errors inside the declarations of these three themselves: Koa's are written for another content-disposition than npm
 * puts beside them, h3's name a package that it does not bring, Hono's need TypeScript 5.7.
 */
const NOT_OURS = /^\.\.\/.*\/consumers\/node_modules\/(@types\/koa|h3|hono)\//;

/** A program that fails to compile where a name that an entry has when it runs has no type, or the type any. */
function typesOfNames(consumer: Consumer, entries: string[]): string {
  consumer.write('names.cjs', 'console.log(JSON.stringify(process.argv.slice(2).map((e) => Object.keys(require(e)))))');
  const names: string[][] = JSON.parse(consumer.node(['names.cjs', ...entries]));
  const lines = entries.flatMap((name, i) => [
    `import * as entry${i} from '${name}';`,
    ...(names[i] ?? []).map(
      (key) => `export const entry${i}_${key}: NotAny<typeof entry${i}.${key}> = entry${i}.${key};`,
    ),
  ]);
  expect(lines.length).toBeGreaterThan(2 * entries.length);
  return ['type NotAny<T> = 0 extends 1 & T ? never : T;', ...lines].join('\n');
}

/** Where each mistake of a program is, as a compiler says it. */
function mistakesIn(name: string, text: string): string[] {
  return text.split('\n').flatMap((line, i) => {
    const column = line.indexOf('/* wrong */');
    return column < 0 ? [] : [`${name}(${i + 1},${column + '/* wrong */ '.length + 1})`];
  });
}
