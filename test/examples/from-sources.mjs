// For `node --import`: gives the examples the sources in the folder SOURCES, as `sources.ts` makes them, for the
// package `service-webhooks`.
import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const folder = pathToFileURL(`${process.env.SOURCES}/`);

export function resolve(specifier, context, next) {
  const [name, ...path] = specifier.split('/');
  if (name !== 'service-webhooks') return next(specifier, context);
  const entry = path.join('/') || 'index';
  const url = [`src/${entry}.js`, `src/${entry}/index.js`, `adapters/${entry}.js`]
    .map((file) => new URL(file, folder))
    .find(existsSync);
  return { url: url.href, shortCircuit: true };
}
