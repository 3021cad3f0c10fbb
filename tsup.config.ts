import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { subpaths } from './scripts/subpaths.js';

/** The sub-paths of the package, from `exports` in package.json. */
const library = {
  entry: Object.fromEntries(subpaths.map(({ entry, source }) => [entry, source])),
  target: 'es2022',
  platform: 'neutral',
  splitting: true,
  treeshake: true,
  // The package refers to itself by name, so that an adapter brings no second copy of the core.
  external: ['service-webhooks'],
} satisfies Options;

export const esm = {
  ...library,
  format: 'esm',
  clean: ['!cli/**', '!page/**'],
  onSuccess: writeTypes,
} satisfies Options;
export const cjs = { ...library, format: 'cjs', dts: true } satisfies Options;

/** The types are built once, for `require`. Those for `import` lead there. */
async function writeTypes() {
  for (const { entry } of subpaths) {
    writeFileSync(`dist/${entry}.d.ts`, `export * from './${basename(entry)}.cjs';\n`);
  }
}

/**
 * The command line: what starts it, and one file with all that it needs. In CommonJS a module that is imported dynamically
 * stays a function that is not called, with its imports of Node, until a command needs it, so that the program starts
 * quickly.
 */
export const commandLine = {
  entry: { 'service-webhooks': 'src/cli/start.ts', program: 'src/cli/main.ts' },
  outDir: 'dist/cli',
  format: 'cjs',
  target: 'node20',
  platform: 'node',
  clean: true,
  splitting: false,
  // What CommonJS has in place of `import.meta.url`.
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'moduleUrl' },
  minifySyntax: true,
  minifyWhitespace: true,
} satisfies Options;

/** The page that the command line serves: one script and one style sheet, with all that they need. */
export const page = {
  entry: { page: 'src/page/front/main.tsx', style: 'src/page/front/style.css' },
  outDir: 'dist/page',
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  tsconfig: 'src/page/front/tsconfig.json',
  clean: true,
  minify: true,
} satisfies Options;

export default defineConfig([esm, cjs, commandLine, page]);
