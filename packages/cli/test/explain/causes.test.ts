import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FIXES, judged } from '../../src/explain/causes.js';
import { damages } from './damages.js';

describe('the table of docs/explain.md', () => {
  it('every cause has a row with its fix, in the order of the code', () => {
    const page = readFileSync(new URL('../../../../docs/explain.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, cause, fix]) => [cause, fix]);
    expect(rows).toEqual(Object.entries(FIXES));
  });

  it('every row is a cause that a damage of the tests has', () => {
    const shown = new Set<string>(damages.map(({ cause }) => cause));
    expect(Object.keys(FIXES).filter((cause) => !shown.has(cause))).toEqual([]);
  });
});

it('every finding of explain gets the certainty that is passed', () => {
  const findings = [
    { cause: 'newline_added', evidence: 'a' },
    { cause: 'compressed', evidence: 'b' },
  ] as const;
  expect(judged('likely', findings)).toEqual([
    { cause: 'newline_added', evidence: 'a', certainty: 'likely' },
    { cause: 'compressed', evidence: 'b', certainty: 'likely' },
  ]);
});
