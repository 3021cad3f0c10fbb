// What the package may cost a bundle, minified and gzipped. An adapter counts without the core, which its user has anyway.
import { subpaths } from './scripts/subpaths.js';

/** They run on Node's own response and elsewhere by Fetch, and need the rules of both for how a response ends. */
const ON_BOTH = ['hono', 'h3'];

/** Besides the two functions of every adapter, it has a module. */
const WITH_MODULE = ['nest'];

const adapters = subpaths.filter(({ source }) => source.startsWith('adapters/'));

export default [
  { name: '`{ verify }` of `service-webhooks`', path: 'dist/index.js', import: '{ verify }', limit: '6.8 kB' },
  {
    name: '`{ webhookHandler }` of `service-webhooks/express`, with the core',
    path: 'dist/express.js',
    import: '{ webhookHandler }',
    limit: '21.2 kB',
  },
  { name: '`service-webhooks`, the whole core', path: 'dist/index.js', limit: '20.7 kB' },
  { name: '`service-webhooks/client`', path: 'dist/client.js', limit: '13 kB' },
  { name: '`service-webhooks/stores/d1`', path: 'dist/stores/d1.js', limit: '6 kB' },
  { name: '`service-webhooks/stores/durable-object`', path: 'dist/stores/durable-object.js', limit: '4 kB' },
  { name: 'the page', path: ['packages/cli/dist/page/page.js', 'packages/cli/dist/page/style.css'], limit: '26 kB' },
  ...adapters.map(({ name, entry }) => ({
    name: `\`${name}\`, without the core`,
    path: `dist/${entry}.js`,
    ignore: ['service-webhooks'],
    limit: [...ON_BOTH, ...WITH_MODULE].includes(entry) ? '4.5 kB' : '3.5 kB',
  })),
].map((budget) => ({ ...budget, gzip: true }));
