import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

const [, guarantees = ''] = /\n## Guarantees\n(.*?)\n## /s.exec(read('SECURITY.md')) ?? [];
const rows = guarantees
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| What'))
  .map((line) => {
    const [what = '', shownBy = ''] = line.slice(2).split(' | ');
    const tests = shownBy.split('; ').map((part) => ({
      path: /`([^`]+)`/.exec(part)?.[1] ?? '',
      names: [...part.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
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
      expect(names, path).not.toEqual([]);
      for (const name of names) expect(read(path), path).toContain(name);
    }
  });
});
