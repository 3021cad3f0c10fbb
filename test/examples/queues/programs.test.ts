import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../integration/file-of.js';
import { testSmallPrograms } from '../small-programs.js';
import { folder } from './example.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const programs = readdirSync(folder)
  .flatMap((entry) => (statSync(folder + entry).isDirectory() ? filesIn(entry) : entry))
  .filter((file) => file.endsWith('.js'));

describe('the programs in examples/queues', () => {
  it('every name that they import is exported by the package', () => {
    const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    const imported = programs.flatMap((file) =>
      [...readFileSync(folder + file, 'utf8').matchAll(/from 'service-webhooks(.*)'/g)].map(([, entry]) => `.${entry}`),
    );
    expect(imported.length).toBeGreaterThan(0);
    expect(Object.keys(exports)).toEqual(expect.arrayContaining(imported));
  });

  testSmallPrograms(
    folder,
    programs.filter((file) => !file.startsWith('sqs/') || isInstalled('examples/queues/sqs')),
  );
});

function filesIn(directory: string): string[] {
  return readdirSync(folder + directory).map((file) => `${directory}/${file}`);
}
