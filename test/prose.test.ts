import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commentsIn, messagesIn, sourceFiles, withoutExample } from './support/docstrings.js';
import { markdownPages } from './support/markdown.js';
import { testFiles, titlesIn } from './support/test-files.js';

/** Words that readers stumble over, with what to write instead. */
const WORDS: readonly [RegExp, string][] = [
  [
    /\b(?:signatures?|secrets)\b[^.:;|]*\bholds?\b|\b(?:do|does|did) not hold\b(?! up)/i,
    'the signature is valid, does not match',
  ],
  [/\b(?:[Hh]eaders?|[Bb]od(?:y|ies)|[Ee]xplanations?|[Mm]essages?) holds?\b|(?:^|[.:!?] )It holds\b/, 'contains, has'],
  [/\brightly\b/i, 'correctly'],
  [/(?:^|[.:!?] )(?:Or e|E)lse\b/, 'Otherwise, in a whole sentence'],
  [/\bt(?:ak(?:e|es|en|ing)|ook)\b(?:(?! (?:and|or|which|that)\b) [\w()'’-]+){0,5} off\b/i, 'remove'],
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

/** Each passage with what was found in it. */
const problemsIn = (passages: readonly { at: string; text: string }[]) =>
  passages.flatMap(({ at, text }) => found(text.replace(/\n *(?=\S)/g, ' ')).map((problem) => `${at}, ${problem}`));

const sources = sourceFiles();
const comments = sources.flatMap(commentsIn);
const titles = testFiles.flatMap((path) => titlesIn(path).map((title) => ({ at: path, ...title })));

describe('the words that readers stumble over', () => {
  it.each(markdownPages())('%s has plain words', (path) => {
    expect(found(readFileSync(path, 'utf8'))).toEqual([]);
  });

  it('the comments of the sources have plain words', () => {
    expect(comments.length).toBeGreaterThan(1_000);
    expect(problemsIn(comments.map((comment) => ({ ...comment, text: withoutExample(comment) })))).toEqual([]);
  });

  it('errors, hints, the log, help and output have plain words', () => {
    const messages = sources.flatMap(messagesIn);
    expect(messages.length).toBeGreaterThan(1_000);
    expect(problemsIn(messages)).toEqual([]);
  });

  it('the titles of tests have plain words', () => {
    expect(problemsIn(titles)).toEqual([]);
  });
});

it('the prose check finds a refused word in prose, and not in code and quotes', () => {
  expect(found('It is told.\n`is told`\n```ts\nis told\n```\nThe message says "is told".\nWhoever asks.')).toEqual([
    'line 1: "is told": write is called with, receives, is notified',
    'line 7: "Whoever": write the caller, the receiver, another process',
  ]);
});

it.each([
  'The signature in the header holds.',
  'Answer 401 where it does not hold.',
  'Any of the secrets may hold.',
  'The V2 header holds a time.',
  'It holds replacement characters.',
  'A rightly signed body.',
  'Nothing, if it was kept. Else a replay.',
  'Take the quotes off the secret.',
  'Something takes off white space.',
])('the prose check refuses the sentence: %s', (sentence) => {
  expect(found(sentence)).not.toEqual([]);
});

it.each(['The engine holds the delivery durably.', 'Another job does not hold up the queue.', 'Turn it off or on.'])(
  'the prose check accepts the sentence: %s',
  (sentence) => {
    expect(found(sentence)).toEqual([]);
  },
);

it('the title of a test does not begin with the words of its group', () => {
  const repeating = titles.filter(({ groups, text }) => groups.some((group) => text.startsWith(`${group} `)));
  expect(repeating.map(({ at, groups, text }) => `${at}: ${[...groups, text].join(' > ')}`)).toEqual([]);
});

it('the title of a test has no format that Vitest leaves as it is', () => {
  const FORMAT = /%\.?\d/; // such as %.20s and %5d
  expect(titles.filter(({ text }) => FORMAT.test(text)).map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
});

it('no docstring refers to a document that users do not have', () => {
  expect(comments.filter(({ text }) => /\bspecification\b|\bservice-spec\b/i.test(text))).toEqual([]);
});
