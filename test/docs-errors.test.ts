import { readFileSync } from 'node:fs';
import { ERRORS, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('docs/errors.md');

/** The kinds of a union in the source, in their order. */
const kindsIn = (path: string, type: string) => {
  const declaration =
    read(path)
      .split(`export type ${type} =`)[1]
      ?.split(/;\n(?:\n|$)/)[0] ?? '';
  return [...declaration.matchAll(/\bkind: ((?:'\w+'(?: \| )?)+)/g)].flatMap(
    ([, kinds = '']) => kinds.match(/\w+/g) ?? [],
  );
};
const codes = Object.keys(ERRORS) as WebhookErrorCode[];

describe('docs/errors.md', () => {
  it('has a heading for every code, in the order of the table, and for nothing else', () => {
    const headings = [...page.matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code);
    expect(codes).toContain('signature_mismatch');
    expect(headings).toEqual(codes);
  });

  it('links to every code', () => {
    const links = [...page.matchAll(/\[(\w+)\]\(#(\w+)\)/g)].filter(([, text, target]) => text === target);
    expect(links.map(([, code]) => code).toSorted()).toEqual(codes.toSorted());
  });

  it.each(codes)('says of %s which status it has and whether a retry helps', (code) => {
    const { status, retryable } = ERRORS[code];
    const [, section = ''] = page.split(`\n## \`${code}\`\n`);
    expect(section.trimStart().split('\n')[0]).toBe(`Status ${status}. Retry: ${retryable ? 'yes' : 'no'}.`);
  });

  it.each([
    ['Decision', kindsIn('src/receiver/outcome.ts', 'Decision')],
    ['Notice', [...kindsIn('src/receiver/outcome.ts', 'Notice'), ...kindsIn('src/dedupe/notice.ts', 'DedupeNotice')]],
  ])('has a row for every kind of %s', (type, kinds) => {
    const [, table = ''] = page.split(`| ${type} |`);
    const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.toSorted()).toEqual(kinds.toSorted());
  });
});
