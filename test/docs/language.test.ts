import { readFileSync } from 'node:fs';
import { ERRORS } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../packages/cli/src/commands.js';
import { run } from '../../packages/cli/src/run.js';
import { commentsIn, proseOf as proseOfComment, sourceFiles } from '../support/docstrings.js';
import { markdownPages } from '../support/markdown.js';

/** Words that readers stumble over, with what to write instead. */
const WORDS: readonly [RegExp, string][] = [
  [/\bsignatures? (?:still )?(?:holds?|does not hold)\b/i, 'the signature is valid, does not match'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\banew\b|\bonce more\b/i, 'again'],
  [/\bcom(?:es?|ing) again\b/i, 'the service retries'],
  [/\b(?:is|are|be|been|being|was|were) told\b|\bgets? to know\b|\bhears?\b/i, 'is called with, receives, is notified'],
  [/\bhand(?:s|ed|ing)? (?:\w+ ){0,4}on\b/i, 'passes, forwards'],
  [/\bbeside\b/i, 'compared with, next to'],
  [/\bfor ?ever\b/i, 'permanently, without limit'],
  [/\bwhoever\b|\bnobody\b|\bsomebody\b|\bthe one that\b/i, 'the caller, the receiver, another process'],
  [/\bin earnest\b/i, 'in production'],
  [/\bwhat you gave it\b/i, 'your handler, store or secret function'],
  [/\bbears? (?:a|the|another)\b/i, 'is idempotent'],
  [/\blet(?:s|ting)? go of\b|\bg(?:ive|ives|iven|iving|ave) (?:\w+ )?up\b/i, 'release'],
  [/\btak(?:e|es|en|ing) (?:up|over)\b|\btook (?:\w+ )?(?:up|over)\b/i, 'claimed, reclaimed'],
  [/\ba great\b|\bfew\b|\bcostly\b|\bdear(?:er)?\b/i, 'a very large value, rarely, expensive'],
  [/\bmade (?:of|from|out of)\b/i, 'built from, derived from'],
  [/\broom that is kept\b/i, 'a reused buffer'],
  [/\blook(?:s|ed|ing)? at a request\b/i, 'property reads'],
  [/\bby hand\b|\bevery duty\b/i, 'hand-written, manually'],
];

/** The prose of a page by line: without code, quotes and link targets. */
function proseOf(page: string): string[] {
  return page
    .replace(/^```.*?^```$/gms, (block) => block.replace(/[^\n]/g, ''))
    .replace(/^> .*$/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/"[^"\n]*"|“[^”\n]*”/g, '')
    .split('\n');
}

const found = (page: string) =>
  proseOf(page).flatMap((line, index) =>
    WORDS.flatMap(([word, instead]) => {
      const match = word.exec(line);
      return match ? [`line ${index + 1}: "${match[0]}": write ${instead}`] : [];
    }),
  );

const comments = sourceFiles().flatMap(commentsIn);

/** What `service-webhooks <command> --help` prints. */
async function helpOf(...command: string[]): Promise<string> {
  let text = '';
  const sink = {
    write: (more: string) => {
      text += more;
    },
  };
  const stdin = () => expect.fail('help reads no input');
  const io = { env: {}, stdin, stdout: sink, stderr: sink, signal: new AbortController().signal, now: Date.now };
  expect(await run([...command, '--help'], io)).toBe(0);
  return text;
}

describe('the words of the documentation', () => {
  it.each(markdownPages())('%s uses none that readers stumble over', (path) => {
    expect(found(readFileSync(path, 'utf8'))).toEqual([]);
  });

  it('the comments of the sources use none that readers stumble over', () => {
    const problems = comments.flatMap((comment) =>
      found(proseOfComment(comment).replace(/\n(?=\S)/g, ' ')).map((problem) => `${comment.at}, ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it('the docstrings refer to nothing that users do not have', () => {
    expect(comments.length).toBeGreaterThan(1_000);
    expect(comments.filter(({ text }) => /\bspecification\b|\bservice-spec\b/i.test(text))).toEqual([]);
  });

  it.each(COMMANDS)('the help of $name uses none that readers stumble over', async ({ name }) => {
    const help = await helpOf(name);
    expect(help).toContain(name);
    expect(found(help.replaceAll(/\n {10,}/g, ' '))).toEqual([]);
  });

  it('the errors use none that readers stumble over', () => {
    const texts = Object.values(ERRORS).flatMap(({ message, hint }) => [message, hint]);
    expect(texts.flatMap(found)).toEqual([]);
  });

  it('are found in prose, and not in code and quotes', () => {
    expect(found('It is told.\n`is told`\n```ts\nis told\n```\nThe message says "is told".\nWhoever asks.')).toEqual([
      'line 1: "is told": write is called with, receives, is notified',
      'line 7: "Whoever": write the caller, the receiver, another process',
    ]);
  });
});
