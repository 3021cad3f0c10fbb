import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTestFile, titlesOf } from './support/test-files.js';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

const [, guarantees = ''] = /\n## Guarantees\n(.*?)\n## /s.exec(read('SECURITY.md')) ?? [];
const rows = guarantees
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Guarantee'))
  .map((line) => {
    const [what = '', shownBy = ''] = line.slice(2).split(' | ');
    const tests = [...shownBy.matchAll(/`([^`]+)`: ((?:"[^"]+"(?:, )?)+)/g)].map(([, path = '', titles = '']) => ({
      path,
      names: [...titles.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
    }));
    return { what, tests };
  });

describe('SECURITY.md', () => {
  it('has guarantees', () => {
    expect(rows.length).toBeGreaterThan(15);
  });

  it.each(rows)('names tests that there are: $what', ({ what, tests }) => {
    expect(what).not.toBe('');
    expect(tests).not.toEqual([]);
    for (const { path, names } of tests) {
      expect(existsSync(join(import.meta.dirname, '..', path)), path).toBe(true);
      expect(isTestFile(path), path).toBe(true);
      expect(names, path).not.toEqual([]);
      const titles = titlesOf(read(path));
      for (const name of names) {
        expect(titles, path).toContain(name);
        const inGroup = titles.filter((title) => title.startsWith(`${name} > `));
        expect(inGroup, `${path}: "${name}" is a group; name one of its tests`).toEqual([]);
      }
    }
  });
});

describe('what counts as a test that is named', () => {
  it('is a file that a script of tests runs', () => {
    for (const path of [
      'test/verify.test.ts',
      'test/adapters/node.test.ts',
      'test/types/verify.test-d.ts',
      'test/faults/kill.test.ts',
      'packages/cli/test/page/in-browser/hostile.test.ts',
      'test/package/tarball.test.ts',
      'test/runtimes/runtimes.test.ts',
    ]) {
      expect(isTestFile(path), path).toBe(true);
    }
    for (const path of [
      'test/adapters/run-vectors.ts',
      'src/verify/verify.ts',
      'test/node_modules/one/test/a.test.ts',
    ]) {
      expect(isTestFile(path), path).toBe(false);
    }
  });

  it('is the whole title of a test or a group, in each form that there is', () => {
    const source = `
      describe('a group', () => { it("a test's title", run); test(\`a test of \${count}\`, run); });
      it.each(rows)('each of %s', run);
      describe.skipIf(condition)('a group with a condition', () => it.runIf(condition).each(rows)('each, if', run));`;
    expect(titlesOf(source)).toEqual([
      'a group',
      "a group > a test's title",
      `a group > a test of \${count}`,
      'each of %s',
      'a group with a condition',
      'a group with a condition > each, if',
    ]);
  });

  it('is no comment, no other text, and nothing that is skipped', () => {
    const source = `
      // it('in a comment', run)
      const text = "it('in a text', run)";
      test.includes('of something else that is named so'); expect('a value');
      it.skip('skipped', run); it.todo('to do'); it.skip.each(rows)('each skipped', run);
      describe.skip('a group skipped', () => { it('in it', run); });`;
    expect(titlesOf(source)).toEqual([]);
  });
});
