import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    express: 'adapters/express.ts',
    fetch: 'adapters/fetch.ts',
    hono: 'adapters/hono.ts',
    node: 'adapters/node.ts',
    testing: 'src/testing/index.ts',
    'stores/postgres': 'src/stores/postgres.ts',
    'stores/redis': 'src/stores/redis.ts',
    'stores/sqlite': 'src/stores/sqlite.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  dts: true,
  clean: true,
  splitting: true,
  treeshake: true,
  // The package refers to itself by name, so that an adapter brings no second copy of the core.
  external: ['service-webhooks'],
});
