// What each entry costs at the start of a process, beside a process that imports nothing, and in a bundle.
//
//   npm run build && node bench/entries.bench.mjs
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { ratio } from './interleaved.mjs';
import { report } from './report.mjs';

const TURNS = 21;
const NOTHING = 'nothing';
const PEERS = ['express', 'stripe', 'svix', '@octokit/webhooks-methods', 'standardwebhooks', '@hookflo/tern'];

const root = new URL('../', import.meta.url);
const { exports, peerDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const entries = Object.keys(exports)
  .filter((subpath) => !subpath.endsWith('.json'))
  .map((subpath) => `service-webhooks${subpath.slice(1)}`);

const names = [NOTHING, ...entries, ...PEERS];
const times = Object.fromEntries(names.map((name) => [name, []]));
for (let turn = -1; turn < TURNS; turn += 1) {
  for (const name of turn % 2 ? names : names.toReversed()) {
    const ms = startUp(name === NOTHING ? '' : `import ${JSON.stringify(name)}`);
    if (turn >= 0) times[name].push(ms);
  }
}
const ratios = names.slice(1).map((name) => ({
  group: name.startsWith('service-webhooks') ? 'entries' : 'others',
  name,
  beside: 'no import',
  ...ratio(times[name], times[NOTHING]),
}));
const sizes = [];
for (const name of entries) sizes.push({ name, gzipped: await sizeOf(name) });
for (const { name, gzipped } of sizes) console.log(`${name.padEnd(44)} ${gzipped} bytes, minified and gzipped`);
report('entries', 'npm run bench -- entries', ratios, { sizes });

function startUp(code) {
  const begun = performance.now();
  const args = ['--input-type=module', '-e', code];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${code}: ${stderr}`);
  return performance.now() - begun;
}

async function sizeOf(name) {
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(name)}`, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    external: Object.keys(peerDependencies),
    tsconfigRaw: '{}', // what is built, not the source that the root's own says
    logLevel: 'error',
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}
