import { defineConfig, type Options } from 'tsup';

/** The entries of the package. */
export const library = {
  entry: {
    index: 'src/index.ts',
    'aws-lambda': 'adapters/aws-lambda.ts',
    'azure-functions': 'adapters/azure-functions.ts',
    client: 'src/client/index.ts',
    'diagnostics-channel': 'src/diagnostics-channel/index.ts',
    elysia: 'adapters/elysia.ts',
    emulator: 'src/emulator/index.ts',
    explain: 'src/explain/index.ts',
    express: 'adapters/express.ts',
    fastify: 'adapters/fastify.ts',
    fetch: 'adapters/fetch.ts',
    'google-cloud-functions': 'adapters/google-cloud-functions.ts',
    h3: 'adapters/h3.ts',
    hono: 'adapters/hono.ts',
    koa: 'adapters/koa.ts',
    nest: 'adapters/nest.ts',
    next: 'adapters/next.ts',
    'next-pages': 'adapters/next-pages.ts',
    node: 'adapters/node.ts',
    otel: 'src/otel/index.ts',
    'standard-schema': 'src/standard-schema/index.ts',
    testing: 'src/testing/index.ts',
    'stores/d1': 'src/stores/d1.ts',
    'stores/durable-object': 'src/stores/durable-object.ts',
    'stores/postgres': 'src/stores/postgres.ts',
    'stores/redis': 'src/stores/redis.ts',
    'stores/sqlite': 'src/stores/sqlite.ts',
    'testing/matchers': 'src/testing/matchers.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  dts: true,
  clean: ['!cli/**', '!page/**'], // made at the same time
  splitting: true,
  treeshake: true,
  // The package refers to itself by name, so that an adapter brings no second copy of the core.
  external: ['service-webhooks'],
} satisfies Options;

/** The command line: a program with all that it needs, a file for each command. */
export const commandLine = {
  entry: { 'service-webhooks': 'src/cli/main.ts' },
  outDir: 'dist/cli',
  format: 'esm',
  target: 'node20',
  platform: 'node',
  clean: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  // The argument parser is CommonJS, and requires parts of Node.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
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

export default defineConfig([library, commandLine, page]);
