import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/markdown.js';
import { testFiles, titlesIn } from './support/test-files.js';

const [, section = ''] = /\n## Guarantees\n(.*?)\n## /s.exec(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')) ?? [];
const guarantees = [...section.matchAll(/^\| (?!Guarantee|---)(.+?) \| (.+) \|$/gm)].map(
  ([, what = '', shownBy = '']) => ({
    what,
    files: [...shownBy.matchAll(/`([^`]+)`: ((?:"[^"]+"(?:, )?)+)/g)].map(([, path = '', titles = '']) => ({
      path,
      titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
    })),
  }),
);

describe('the guarantees of SECURITY.md', () => {
  it('more than 15 guarantees are listed', () => {
    expect(guarantees.length).toBeGreaterThan(15);
  });

  it.each(guarantees)('whole titles of tests show: $what', ({ files }) => {
    expect(files).not.toEqual([]);
    for (const { path, titles } of files) {
      expect(testFiles).toContain(path);
      const written = titlesIn(path).map(({ groups, text }) => [...groups, text].join(' > '));
      expect(written).toEqual(expect.arrayContaining(titles));
      // A group shows nothing by itself.
      expect(titles.filter((title) => written.some((other) => other.startsWith(`${title} > `)))).toEqual([]);
    }
  });
});
