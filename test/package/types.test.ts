import { describe, expect, it } from 'vitest';
import { entries, isInstalled, makeConsumer, program } from './consumer.js';

const compilers = ['typescript5', 'typescript6', 'typescript7'];
const resolutions = [
  { moduleResolution: 'nodenext', module: 'nodenext' },
  { moduleResolution: 'node16', module: 'node16' },
  { moduleResolution: 'bundler', module: 'preserve' },
];

describe.skipIf(!isInstalled('consumers'))('a strict project that checks declarations too', () => {
  it.each(compilers.flatMap((compiler) => resolutions.map((options) => ({ compiler, ...options }))))(
    'of $compiler with $moduleResolution has the types of every entry, in ESM and in CommonJS',
    ({ compiler, ...options }) => {
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
      const compilerOptions = { target: 'es2022', noEmit: true, skipLibCheck: false, types: ['node'], ...strict };
      const consumer = makeConsumer(
        {
          'tsconfig.json': JSON.stringify({
            compilerOptions: { ...compilerOptions, ...options },
            include: ['*.mts', '*.cts'],
          }),
        },
        'consumers',
      );
      const everyEntry = typesOfNames(consumer);
      consumer.write('every-entry.mts', everyEntry);
      consumer.write('every-entry.cts', everyEntry);
      consumer.write('frameworks.mts', program('frameworks.ts'));
      consumer.write('frameworks.cts', program('frameworks.ts'));
      // h3 2 has no CommonJS; h3 1 is not here.
      consumer.write('h3.mts', program('h3.ts'));
      consumer.write('wrong.mts', program('wrong.ts'));
      consumer.write('wrong.cts', program('wrong.ts'));

      const { output } = consumer.attempt([`node_modules/${compiler}/bin/tsc`, '-p', '.', '--pretty', 'false']);
      const errors = output.split('\n').filter((line) => line.includes('error TS'));
      // The mistakes of wrong.ts are seen: the types are there, and none of them is any.
      const seen = errors.filter((line) => /^wrong\.[mc]ts/.test(line)).map((line) => line.replace(/: error.*/, ''));
      expect(seen.toSorted()).toEqual(['wrong.cts', 'wrong.mts'].flatMap(mistakesIn).toSorted());
      const others = errors.filter((line) => !line.startsWith('wrong.') && !NOT_OURS.test(line));
      expect(others).toEqual([]);
    },
  );
});

/**
 * Errors inside the declarations of these two themselves: Koa's are written for another content-disposition than npm
 * puts beside them, h3's name a package that it does not bring.
 */
const NOT_OURS = /^\.\.\/.*\/consumers\/node_modules\/(@types\/koa|h3)\//;

/** A program that fails to compile where a name that an entry has when it runs has no type, or the type any. */
function typesOfNames(consumer: ReturnType<typeof makeConsumer>): string {
  consumer.write('names.cjs', 'console.log(JSON.stringify(process.argv.slice(2).map((e) => Object.keys(require(e)))))');
  const names: string[][] = JSON.parse(consumer.node(['names.cjs', ...entries.map(({ name }) => name)]));
  const lines = entries.flatMap(({ name }, i) => [
    `import * as entry${i} from '${name}';`,
    ...(names[i] ?? []).map(
      (key) => `export const entry${i}_${key}: NotAny<typeof entry${i}.${key}> = entry${i}.${key};`,
    ),
  ]);
  expect(lines.length).toBeGreaterThan(2 * entries.length);
  return ['type NotAny<T> = 0 extends 1 & T ? never : T;', ...lines].join('\n');
}

/** Where each mistake of wrong.ts is, as a compiler says it. */
function mistakesIn(name: string): string[] {
  return program('wrong.ts')
    .split('\n')
    .flatMap((line, i) => {
      const column = line.indexOf('/* wrong */');
      return column < 0 ? [] : [`${name}(${i + 1},${column + '/* wrong */ '.length + 1})`];
    });
}
