// What the package may cost a bundle, minified and gzipped. An adapter counts beside the core, which its user has anyway.
import { readFileSync } from 'node:fs';

const { exports } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const NO_ADAPTERS = [
  './testing',
  './explain',
  './client',
  './emulator',
  './standard-schema',
  './otel',
  './diagnostics-channel',
];
const adapters = Object.keys(exports).filter(
  (subpath) => /^\.\/[a-z-]+$/.test(subpath) && !NO_ADAPTERS.includes(subpath),
);

export default [
  { name: 'verify alone', path: 'dist/index.js', import: '{ verify }', limit: '3 kB' },
  { name: 'the whole core', path: 'dist/index.js', limit: '8 kB' },
  { name: 'the client', path: 'dist/client.js', limit: '10 kB' },
  { name: 'the store on D1', path: 'dist/stores/d1.js', limit: '2.5 kB' },
  { name: 'the store on Durable Objects', path: 'dist/stores/durable-object.js', limit: '2.5 kB' },
  { name: 'the page', path: ['dist/page/page.js', 'dist/page/style.css'], limit: '16 kB' },
  ...adapters.map((subpath) => ({
    name: `service-webhooks${subpath.slice(1)}, beside the core`,
    path: exports[subpath].import.default.slice(2),
    ignore: ['service-webhooks'],
    limit: '1.5 kB',
  })),
].map((budget) => ({ ...budget, gzip: true }));
