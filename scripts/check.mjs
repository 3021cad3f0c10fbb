// Everything that can be checked besides `npm test`, in the order of what breaks most. Stops at the first step that
// fails, shows what it said, and says how to run it alone. What passes is one line.
import { spawnSync } from 'node:child_process';
import { PACKAGES } from './packages.mjs';

/** Name, command, and whether it needs what `npm run build` made. */
const steps = [
  ['format and lint', 'npx biome check --error-on-warnings .'],
  ['types', 'npx tsc -p .'],
  ['types of the page', 'npx tsc -p packages/cli/src/page/front'],
  ["types of the page's tests", 'npx tsc -p packages/cli/test/page/in-browser'],
  ['type tests', 'npx vitest run --project types'],
  ['tests of programs', 'npx vitest run --project programs'],
  ['build', 'npm run build'],
  ...PACKAGES.flatMap((folder) => [
    [`package in ${folder}`, `npx publint --strict ${folder}`, 'built'],
    ['its types as users resolve them', `npx attw --pack ${folder}`, 'built'],
  ]),
  ['the packages in projects', 'npx vitest run --project package', 'built'],
  ['unused exports and dependencies', 'npx knip'],
  ['bundle sizes', 'node scripts/bundle-sizes.mjs', 'built'],
  ['public API', 'node scripts/api.mjs', 'built'],
];

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const start = performance.now();

for (const [name, command, built] of steps) {
  const begun = performance.now();
  process.stdout.write(`${name.padEnd(32)} `);
  const { status, stdout, stderr } = spawnSync(command, {
    shell: true,
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${seconds(begun)}`);
  if (status !== 0) {
    console.error(
      `\n${stdout}${stderr}\nFailed: ${name}. To run it alone: ${built ? 'npm run build && ' : ''}${command}`,
    );
    process.exitCode = 1; // process.exit() would lose what a full pipe has not taken yet
    break;
  }
}
if (!process.exitCode) console.log(`\nAll ${steps.length} checks passed in ${seconds(start)}.`);
