import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { testSmallPrograms } from '../small-programs.js';
import { folder, installed } from './example.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const programs = readdirSync(folder)
  .filter((entry) => entry !== 'node_modules') // it links back to the root
  .flatMap((entry) => (statSync(folder + entry).isDirectory() ? filesIn(entry) : entry))
  .filter((file) => file.endsWith('.js'));

describe('the programs in examples/queues', () => {
  it('each import is an export of the package', () => {
    const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    const imported = programs.flatMap((file) =>
      [...readFileSync(folder + file, 'utf8').matchAll(/from 'service-webhooks(.*)'/g)].map(([, entry]) => `.${entry}`),
    );
    expect(imported.length).toBeGreaterThan(0);
    expect(Object.keys(exports)).toEqual(expect.arrayContaining(imported));
  });

  testSmallPrograms(folder, programs, { installed });
});

// Where the registry lacks one for some platform, `npm install` writes a lock file that `npm ci` refuses.
it('the lock file of examples/queues has every optional part of what it locks', () => {
  const { packages } = JSON.parse(readFileSync(`${folder}package-lock.json`, 'utf8'));
  const missing = Object.values<{ optionalDependencies?: object }>(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => packages[`node_modules/${name}`] === undefined),
  );
  expect(missing).toEqual([]);
});

function filesIn(directory: string): string[] {
  return readdirSync(folder + directory).map((file) => `${directory}/${file}`);
}
