// Everything that can be checked, in one command and in the order of what breaks most. Stops at the first step that
// fails, shows what it said, and says how to run it alone. What passes is one line.
import { spawnSync } from 'node:child_process';

/** Name, script of package.json, and whether it looks at what `npm run build` made. */
const steps = [
  ['format and lint', 'check:code'],
  ['types', 'check:types'],
  ['type tests', 'test:types'],
  ['tests', 'test'],
  ['tests of programs', 'test:programs'],
  ['build', 'build'],
  ['package', 'check:package', 'built'],
  ['types as users resolve them', 'check:resolution', 'built'],
  ['the package in projects', 'test:package', 'built'],
  ['unused exports and dependencies', 'check:unused'],
  ['bundle sizes', 'check:size', 'built'],
  ['public API', 'check:api', 'built'],
];

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const start = performance.now();

for (const [name, script, built] of steps) {
  const begun = performance.now();
  process.stdout.write(`${name.padEnd(32)} `);
  const { status, stdout, stderr } = spawnSync(`npm run --silent ${script}`, {
    shell: true,
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${seconds(begun)}`);
  if (status !== 0) {
    const alone = `${built ? 'npm run build && ' : ''}npm run ${script}`;
    console.error(`\n${stdout}${stderr}\nFailed: ${name}. To run it alone: ${alone}`);
    process.exit(1);
  }
}
console.log(`\nAll ${steps.length} checks passed in ${seconds(start)}.`);
