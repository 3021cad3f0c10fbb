import { readFileSync } from 'node:fs';
import { ERRORS, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { type Decision, NOTICES } from '../src/receiver/outcome.js';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('docs/errors.md');

/** The compiler refuses a kind that is missing here. */
const DECISIONS: Record<Decision['kind'], true> = {
  handled: true,
  queued: true,
  known: true,
  ignored: true,
  duplicate: true,
  in_progress: true,
  discarded: true,
  rejected: true,
  failed: true,
  past_deadline: true,
};
const codes = Object.keys(ERRORS) as WebhookErrorCode[];

describe('docs/errors.md', () => {
  it('the headings are the error codes, in the order of the table in the source', () => {
    const headings = [...page.matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code);
    expect(headings).toEqual(codes);
  });

  it('the overview links to the section of every error code', () => {
    const links = [...page.matchAll(/\[(\w+)\]\(#(\w+)\)/g)].filter(([, text, target]) => text === target);
    expect(links.map(([, code]) => code).toSorted()).toEqual(codes.toSorted());
  });

  it.each(codes)('the section of %s begins with its status, and whether a retry helps', (code) => {
    const { status, retryable } = ERRORS[code];
    const [, section = ''] = page.split(`\n## \`${code}\`\n`);
    expect(section.trimStart().split('\n')[0]).toBe(`Status ${status}. Retry: ${retryable ? 'yes' : 'no'}.`);
  });

  it.each([
    ['Decision', DECISIONS],
    ['Notice', NOTICES],
  ])('the table has a row for every kind of %s', (type, kinds) => {
    const [, table = ''] = page.split(`| ${type} |`);
    const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
    expect(rows.toSorted()).toEqual(Object.keys(kinds).sort());
  });
});
