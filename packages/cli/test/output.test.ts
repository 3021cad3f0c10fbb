import { describe, expect, it } from 'vitest';
import { counted, createOutput, type OutputOptions, type Piece, shortened, timeOfDay } from '../src/output.js';

interface Terminal {
  isTTY?: boolean;
  columns?: number | undefined;
  env?: Record<string, string>;
}

function anOutput({ isTTY, columns, env = {}, ...options }: OutputOptions & Terminal) {
  const printed = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof printed) => ({
    isTTY,
    columns,
    write(text: string) {
      printed[name] += text;
    },
  });
  return { printed, out: createOutput({ stdout: sink('stdout'), stderr: sink('stderr'), env }, options) };
}

describe('the output of a command', () => {
  it.each([
    ['text in a pipe', {}, false],
    ['text on a terminal', { isTTY: true }, false],
    ['JSON lines where they are asked for', { json: true }, true],
    ['JSON lines where they are asked for on a terminal', { isTTY: true, json: true }, true],
  ])('results are printed as %s', (_, options, json) => {
    const { out, printed } = anOutput({ ...options, env: { NO_COLOR: '1' } });
    out.record({ a: 1 }, ['one', 2], ['three']);
    expect(out.json).toBe(json);
    expect(printed).toEqual({ stdout: json ? '{"a":1}\n' : 'one  2\nthree\n', stderr: '' });
  });

  it.each<[string, OutputOptions & { env?: Record<string, string> }]>([
    ['--no-color', { color: false }],
    ['NO_COLOR', { color: true, env: { NO_COLOR: '1' } }],
    ['TERM=dumb', { env: { TERM: 'dumb' } }],
  ])('%s prints no colours on a terminal', (_, options) => {
    const { out, printed } = anOutput({ isTTY: true, ...options });
    out.record({}, [['good', 'a']]);
    expect(printed.stdout).toBe('a\n');
  });

  it('undefined, false and empty pieces of a line are left out', () => {
    const { out, printed } = anOutput({});
    out.record({}, ['a', undefined, false, '', 0, 'b']);
    expect(printed.stdout).toBe('a  0  b\n');
  });

  it.each([
    ['good', 32],
    ['bad', 31],
    ['warn', 33],
    ['faint', 2],
    ['strong', 1],
  ] as const)('text of the style %s has its colour on a terminal', (style, code) => {
    for (const env of [{}, { NO_COLOR: '' }]) {
      const { out, printed } = anOutput({ isTTY: true, env });
      out.record({}, [[style, 'yes'], 'plain']);
      expect(printed.stdout).toBe(`\u001b[${code}myes\u001b[0m  plain\n`);
    }
  });

  it.each([
    ['off a terminal', {}],
    ['where NO_COLOR is set', { isTTY: true, env: { NO_COLOR: '1' } }],
    ['on a terminal that has none', { isTTY: true, env: { TERM: 'dumb' } }],
  ])('there are no colours %s', (_, options) => {
    const { out, printed } = anOutput(options);
    out.record({}, [['good', 'yes']]);
    expect(printed.stdout).toBe('yes\n');
  });

  it('control characters of a result are escaped', () => {
    const { out, printed } = anOutput({});
    out.record({}, ['\u001b[2J', ['bad', '\u001b[1A']]);
    expect(printed.stdout).toBe('\\u001b[2J  \\u001b[1A\n');
    const json = anOutput({ json: true });
    json.out.record({ a: '\u202e' });
    expect(json.printed.stdout).toBe('{"a":"\\u202e"}\n');
  });

  describe('a line that is wider than the terminal', () => {
    const printedAt = (columns: number | undefined, isTTY: boolean, ...line: Piece[]) => {
      const { out, printed } = anOutput({ isTTY, columns, env: { NO_COLOR: '1' } });
      out.record({}, line);
      return printed.stdout;
    };

    it('goes on below, indented, and no word is cut', () => {
      expect(printedAt(12, true, ['bad', 401], 'not acknowledged', 'http://localhost:3000/webhooks')).toBe(
        '401  not\n    acknowledged\n    http://localhost:3000/webhooks\n',
      );
    });

    it('keeps its own indentation', () => {
      expect(printedAt(14, true, '   The app answers here.')).toBe('   The app\n   answers\n   here.\n');
    });

    it.each([60, 100])('has lines of at most %i columns', (columns) => {
      const text = printedAt(
        columns,
        true,
        `   ${'Verify the raw body, before anything parses it. '.repeat(9).trim()}`,
      );
      const widths = text
        .trimEnd()
        .split('\n')
        .map(({ length }) => length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
      expect(Math.min(...widths.slice(0, -1))).toBeGreaterThan(columns - 12);
    });

    it.each([
      ['in a pipe', 10, false],
      ['on a terminal of an unknown width', undefined, true],
      ['on a terminal that says 0', 0, true],
    ])('stays one line %s', (_, columns, isTTY) => {
      expect(printedAt(columns, isTTY, 'not', 'acknowledged')).toBe('not  acknowledged\n');
    });

    it('is coloured word by word', () => {
      const { out, printed } = anOutput({ isTTY: true, columns: 8 });
      out.record({}, [['bad', 'no answer']]);
      expect(printed.stdout).toBe('\u001b[31mno\u001b[0m\n    \u001b[31manswer\u001b[0m\n');
    });
  });

  it('notes go to stderr in text output, and are left out in JSON output', () => {
    const { out, printed } = anOutput({});
    out.note('to whom it', ['faint', 'concerns']);
    expect(printed).toEqual({ stdout: '', stderr: 'to whom it  concerns\n' });
    const json = anOutput({ json: true });
    json.out.note('nothing');
    expect(json.printed).toEqual({ stdout: '', stderr: '' });
  });

  it('verbatim text is printed without escapes', () => {
    const { out, printed } = anOutput({});
    out.verbatim('\u001b\n');
    expect(printed.stdout).toBe('\u001b\n');
  });
});

it('a long text is cut at the given length, with a mark', () => {
  expect(shortened('abcd', 3)).toBe('abc…');
  expect(shortened('abc', 3)).toBe('abc');
  expect(shortened('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
});

it('a count has the plural of its noun', () => {
  expect([0, 1, 2].map((count) => counted(count, 'request'))).toEqual(['0 requests', '1 request', '2 requests']);
  expect([1, 2].map((count) => counted(count, 'delivery', 'deliveries'))).toEqual(['1 delivery', '2 deliveries']);
});

it('a time of day is in UTC, without the date', () => {
  expect(timeOfDay(Date.UTC(2026, 6, 11, 12, 3, 4, 999))).toBe('12:03:04Z');
});
