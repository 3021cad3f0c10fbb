import { readFileSync } from 'node:fs';
import { WebhookError, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { ERROR_STATUS } from './support/error-status.js';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('docs/errors.md');

const inSource = (path: string, type: string, member: RegExp) => {
  const declaration = read(path).split(`export type ${type} =`)[1]?.split(/;\n\n/)[0] ?? '';
  return [...declaration.matchAll(member)].map(([, name = '']) => name);
};
const codes = Object.keys(ERROR_STATUS) as WebhookErrorCode[];

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
    const { status, retryable } = new WebhookError(code, ERROR_STATUS[code], 'hint');
    const [, section = ''] = page.split(`\n## \`${code}\`\n`);
    expect(section.trimStart().split('\n')[0]).toBe(`Status ${status}. Retry: ${retryable ? 'yes' : 'no'}.`);
  });

  it.each([
    ['Answer', '| Answer |'],
    ['Notice', '| Notice |'],
  ])('has a row for every kind of %s', (type, head) => {
    const [, table = ''] = page.split(head);
    const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
    expect(rows.length).toBeGreaterThan(5);
    expect(rows).toEqual(inSource('src/outcome.ts', type, /\bkind: '(\w+)'/g));
  });
});
