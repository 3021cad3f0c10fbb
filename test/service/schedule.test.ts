import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MIN_RETAIN_MS } from '../../src/endpoint.js';
import {
  ANSWER_TIMEOUT_MS,
  MAX_ATTEMPTS,
  PAUSE_AFTER_DEAD,
  RETRY_HORIZON_MS,
  RETRY_WAITS_MS,
} from '../../src/service/schedule.js';
import { sourceFiles } from '../support/docstrings.js';

const MINUTE = 60_000;
const TOLERANCE_MS = 300_000;
/** The hours and minutes, rounded up. */
const asText = (ms: number) => `${Math.floor(ms / (60 * MINUTE))} h ${Math.ceil((ms % (60 * MINUTE)) / MINUTE)} min`;

/** The hours, minutes and seconds that are not zero. */
const inSeconds = (ms: number) =>
  [
    [Math.floor(ms / (60 * MINUTE)), 'h'],
    [Math.floor((ms % (60 * MINUTE)) / MINUTE), 'min'],
    [(ms % MINUTE) / 1_000, 's'],
  ]
    .filter(([amount]) => amount !== 0)
    .map((part) => part.join(' '))
    .join(' ');

describe('the retries of the service', () => {
  it('the waits between attempts, the timeout and the limits are those of the specification', () => {
    expect(RETRY_WAITS_MS).toEqual([30_000, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 240 * MINUTE]);
    expect([MAX_ATTEMPTS, ANSWER_TIMEOUT_MS, PAUSE_AFTER_DEAD]).toEqual([6, 20_000, 20]);
    expect(RETRY_HORIZON_MS).toBe(18_870_000);
  });

  it('the shortest retention time of dedupe is longer than the time of all retries', () => {
    expect(MIN_RETAIN_MS).toBeGreaterThan(RETRY_HORIZON_MS + TOLERANCE_MS);
  });

  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const texts = [...pages.map((name) => `docs/${name}`), 'README.md', 'SECURITY.md', ...sourceFiles()];
  const [retries, withTolerance] = [RETRY_HORIZON_MS, RETRY_HORIZON_MS + TOLERANCE_MS].map(asText) as [string, string];
  const waits = RETRY_WAITS_MS.map((_, index) => RETRY_WAITS_MS.slice(0, index + 1).reduce((sum, wait) => sum + wait));

  it.each(texts)('%s states the time from the first attempt to the last as the schedule has it', (page) => {
    const text = readFileSync(page, 'utf8');
    const stated = text.match(/\b5 h \d+ m\w*(?: \d+ s)?|\b5[.,]\d+…? ?h(?:ours)?\b/g) ?? [];
    const exact = [RETRY_HORIZON_MS, waits.at(-1) ?? 0].map(inSeconds);
    expect(stated.filter((text) => ![retries, withTolerance, ...exact].includes(text))).toEqual([]);
    const sentences = text.split(/[.;]\s/).filter((sentence) => /\bretr(?:y|ies)\b/.test(sentence));
    const withoutRetries = sentences.filter((sentence) => !sentence.includes(retries));
    expect(withoutRetries.filter((sentence) => sentence.includes(withTolerance))).toEqual([]);
  });

  it('docs/retries.md has a row for each attempt with the sum of the waits before it', () => {
    const rows = [...readFileSync('docs/retries.md', 'utf8').matchAll(/^\| \d \| .+ retry \| about (.+?) \|/gm)];
    expect(rows.map(([, time]) => time)).toEqual(waits.map(inSeconds));
  });

  it.each(['docs/retries.md', 'docs/rotate-a-secret.md', 'docs/cli.md'])(
    '%s states the time of all retries',
    (page) => {
      expect(readFileSync(page, 'utf8')).toContain(asText(RETRY_HORIZON_MS));
    },
  );
});
