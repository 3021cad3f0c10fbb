import { FIXTURE_NOW, FIXTURE_SECRET, recordedDeliveries } from 'service-webhooks/fixtures';
import { readDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { BRIEF_EFFORT } from '../../src/explain/effort.js';
import { explainWithin } from '../../src/explain/explain.js';

const DAMAGE = ['body_incomplete', 'body_changed'];

/** Whether the bytes are JSON in UTF-8, as every body of the service is. */
function isJson(bytes: Uint8Array): boolean {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) !== undefined;
  } catch {
    return false;
  }
}

/** The names of the causes, the first one first. */
function causesOf(body: Uint8Array, headers: Readonly<Record<string, string>>): string[] {
  const input = { headers, body, secret: FIXTURE_SECRET, now: () => FIXTURE_NOW };
  return explainWithin({ ...BRIEF_EFFORT, maxMs: 10_000 }, input).causes.map(({ cause }) => cause);
}

/** What is wrong with the causes of a damaged body; undefined where nothing is, or where the body is JSON all the same. */
function problemIn(body: Uint8Array, headers: Readonly<Record<string, string>>): string | undefined {
  if (body.length === 0 || isJson(body)) return undefined;
  const causes = causesOf(body, headers);
  const isRight = DAMAGE.includes(causes[0] ?? '') && causes.at(-1) === 'secret_wrong';
  return isRight ? undefined : causes.join(', ');
}

const types = ['generation.completed', 'stt.completed'];
const deliveries = recordedDeliveries
  .filter(({ name }) => types.includes(name))
  .flatMap(({ name, text }) => {
    const { headers, body } = readDelivery(text);
    const { 'content-length': _, ...undeclared } = Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key.toLowerCase(), String(value)]),
    );
    const bytes = Uint8Array.from(body as Uint8Array);
    const declared = { ...undeclared, 'content-length': String(bytes.length) };
    return [
      { name, body: bytes, headers: undeclared, length: 'without Content-Length' },
      { name, body: bytes, headers: declared, length: 'with Content-Length' },
    ];
  });

describe('a recorded delivery whose body is no longer JSON', () => {
  it('there are recorded deliveries to damage', () => {
    expect(deliveries).toHaveLength(4);
    for (const { body, headers } of deliveries) expect(causesOf(body, headers)).toEqual([]);
  });

  it.each(deliveries)('damage is the first cause where $name is cut off at any byte, $length', ({ body, headers }) => {
    const problems = Array.from(body, (_, end) => problemIn(body.subarray(0, end), headers));
    expect(problems.filter(Boolean)).toEqual([]);
  });

  it.each(deliveries)('damage is the first cause where one bit of $name is flipped, $length', ({ body, headers }) => {
    // Each of the eight bits in turn: the highest one makes invalid UTF-8.
    const problems = Array.from(body, (byte, index) => problemIn(body.with(index, byte ^ (1 << (index % 8))), headers));
    expect(problems.filter(Boolean)).toEqual([]);
  });

  it.each(deliveries)('$name that lost its last byte is incomplete, $length', ({ body, headers }) => {
    const end = body.lastIndexOf('}'.charCodeAt(0));
    expect(causesOf(body.subarray(0, end), headers)[0]).toBe('body_incomplete');
  });
});
