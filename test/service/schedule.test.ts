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

const MINUTE = 60_000;
const TOLERANCE_MS = 300_000;
const asText = (ms: number) => `${Math.floor(ms / (60 * MINUTE))} h ${Math.ceil((ms % (60 * MINUTE)) / MINUTE)} min`;

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

  it.each([...pages.map((name) => `docs/${name}`), 'README.md', 'SECURITY.md'])(
    '%s states the time from the first attempt to the last as the schedule has it',
    (page) => {
      const stated = readFileSync(page, 'utf8').match(/(?<!about )\b5 h \d+ m\w*/g) ?? [];
      const right = [asText(RETRY_HORIZON_MS), asText(RETRY_HORIZON_MS + TOLERANCE_MS)];
      expect(stated.filter((text) => !right.includes(text))).toEqual([]);
    },
  );
});
