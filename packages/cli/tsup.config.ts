import { defineConfig, type Options } from 'tsup';
import { libraryBuild } from '../../scripts/library-build.js';

/**
 * The program: what starts it, and one file of its own code. In CommonJS a module that is imported dynamically stays a
 * function that is not called, with its own imports, until a command needs it, so that the program starts quickly.
 */
const program = {
  entry: { 'service-webhooks': 'src/start.ts', main: 'src/main.ts' },
  format: 'cjs',
  target: 'node20',
  platform: 'node',
  splitting: false,
  // What CommonJS has in place of `import.meta.url`.
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'moduleUrl' },
} satisfies Options;

/** The views that `dev`, `listen` and `queue` serve: each has one script with all that it needs. */
const page = {
  entry: {
    page: 'src/page/front/main.tsx',
    style: 'src/page/front/style.css',
    queue: 'src/page/front/queue/main.tsx',
    'queue-style': 'src/page/front/queue/queue-style.css',
    jobs: 'src/page/front/jobs/main.tsx',
  },
  splitting: false,
  outDir: 'dist/page',
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  tsconfig: 'src/page/front/tsconfig.json',
  noExternal: [/./],
  minify: true,
} satisfies Options;

export default defineConfig([...libraryBuild('packages/cli'), program, page]);
