import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ERRORS, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { DEDUPE_OPTIONS } from '../../src/dedupe/options.js';
import { RECEIVER_OPTIONS } from '../../src/receiver/options.js';
import { SIGNATURE_OPTIONS } from '../../src/verify/policy.js';
import { codeBlocksIn, linesWithCommentBehind, markdownFiles, markdownPages, ROOT } from '../support/markdown.js';

const pages = [...markdownPages(), 'AGENTS.md', 'skills/service-webhooks/SKILL.md'];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const withoutCode = (text: string) => text.replace(/^ *```.*?^ *```$/gms, '');

/** The anchors of a page's headings, as GitHub and the site derive them. */
function anchorsOf(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/\[(.*?)\]\(.*?\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

describe.each(pages)('%s', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);

  it('every link leads to a file or a heading', () => {
    const dead = links.filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  it('the page has one heading of the first level', () => {
    const text = withoutCode(read(page)).replace(/^---\n.*?\n---\n/s, '');
    expect([...text.matchAll(/^# .+$/gm)]).toHaveLength(1);
  });
});

describe.each(markdownFiles())('the code of %s', (page) => {
  const blocks = codeBlocksIn(read(page));

  it('the code is at most 80 columns wide', () => {
    expect(blocks.flatMap(({ lines }) => lines).filter((line) => line.length > 80)).toEqual([]);
  });

  it('every comment is above the line that it is about', () => {
    expect(blocks.flatMap(linesWithCommentBehind)).toEqual([]);
  });
});

describe('a comment behind code', () => {
  it.each([
    ['ts', 'run(); // why'],
    ['ts', "const url = 'https://a.example'; /* why */"],
    ['sh', 'node server.mjs  # why'],
    ['sql', 'select 1; -- why'],
    ['nginx', 'proxy_read_timeout 25s;   # why'],
  ])('in %s, it is found in: %s', (language, line) => {
    expect(linesWithCommentBehind({ language, lines: [line] })).toEqual([line]);
  });

  it.each([
    ['ts', '  // why'],
    ['ts', '   * of a docstring'],
    ['ts', "const url = 'see // https://a.example';"],
    ['ts', 'const answer = await fetch(`https://a.example/1 // 2`);'],
    ['sh', '# why'],
    ['sh', 'curl https://a.example/page#part -d "a # b"'],
    ['sh', 'claude mcp add webhooks -- npx service-webhooks-cli mcp 3000'],
    ['sql', '-- why'],
    ['text', 'done // what the program prints'],
  ])('in %s, there is none in: %s', (language, line) => {
    expect(linesWithCommentBehind({ language, lines: [line] })).toEqual([]);
  });
});

it('docs/README.md leads to every page', () => {
  const index = read('docs/README.md') + read('docs/frameworks.md');
  const unreachable = markdownPages()
    .filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
    .filter((page) => !index.includes(`(${page.slice('docs/'.length)})`));
  expect(unreachable).toEqual([]);
});

it('docs/events.md has a row for each event type', () => {
  const rows = [...read('docs/events.md').matchAll(/^\| `(\w+\.\w+)` \|/gm)].map(([, type]) => type);
  expect(rows).toEqual([...WEBHOOK_EVENT_TYPES]);
});

describe('docs/options.md', () => {
  const headings = [...read('docs/options.md').matchAll(/^## ([\w.]+)$/gm)].map(([, name = '']) => name);

  it('the headings are the options of a receiver', () => {
    const all = [...RECEIVER_OPTIONS, ...DEDUPE_OPTIONS.map((name) => `dedupe.${name}`), ...SIGNATURE_OPTIONS];
    expect(headings.toSorted()).toEqual(all.toSorted());
  });

  it('the first table has every option', () => {
    const rows = [...read('docs/options.md').matchAll(/^\| \[`([\w.]+)`\]/gm)].map(([, name]) => name);
    expect(rows).toEqual(headings);
  });
});

it('docs/compatibility.md names the Node floor of package.json', () => {
  const { engines } = JSON.parse(read('package.json'));
  const [, floor] = /^>=(\d+\.\d+)/.exec(engines.node) ?? [];
  expect(read('docs/compatibility.md')).toContain(`from ${floor} on`);
  expect(read('README.md')).toContain(`Node ${floor} or later`);
});

it('docs/troubleshooting.md names only codes that exist', () => {
  const codes = [...read('docs/troubleshooting.md').matchAll(/errors\.md#(\w+)/g)].map(([, code = '']) => code);
  for (const code of codes) expect(Object.keys(ERRORS)).toContain(code);
});

describe('the pages for contributors', () => {
  it.each(['CONTRIBUTING.md', 'AGENTS.md'])('%s names only files and scripts that exist', (page) => {
    const text = read(page);
    // Under the heading of a package, its folder is the beginning of paths to its own files.
    const paths = text.split(/^(?=##)/m).flatMap((section) => {
      const [, folder = '.'] = /^### (packages\/\w+)$/m.exec(section) ?? [];
      const named = section.matchAll(
        /`((?:src|test|adapters|docs|packages|scripts|site|api|skills|\.ci|\.github)\/[\w./-]*)`/g,
      );
      return [...named].map(([, path = '']) => [path, join(folder, path)]);
    });
    expect(paths.length).toBeGreaterThan(3);
    for (const [path = '', own = ''] of paths) {
      expect(existsSync(join(ROOT, own)) || existsSync(join(ROOT, path)), path).toBe(true);
    }
    const { scripts } = JSON.parse(read('package.json'));
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script);
  });

  it('CONTRIBUTING.md begins with the five files that a delivery passes', () => {
    const [, list = ''] = /## Follow one delivery\n(.*?)\n## /s.exec(read('CONTRIBUTING.md')) ?? [];
    expect([...list.matchAll(/^\d\. `(src\/[\w/.-]+)`/gm)]).toHaveLength(5);
    expect(list).toContain('`src/receiver/receiver.ts`');
  });
});
