import { type HeaderSource, verify, verifyAsync } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { runVectors } from './adapters/run-vectors.js';
import { expectVerdicts } from './support/expect-verdicts.js';
import { readVectors } from './support/fixtures.js';
import { mounts } from './support/mounts.js';
import { accepted, bodyOf, changedByHttp, settingsOf, type Vector } from './support/vector.js';

const vectors = readVectors();
const groups = [...new Set(vectors.map(({ group }) => group))];

const travelling = vectors.filter((vector) => changedByHttp(vector) === undefined);

describe('the vectors of signed deliveries', () => {
  it('there are at least 150, all with different names', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(150);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  it('at least 50 are accepted and 100 refused', () => {
    const accepting = vectors.filter((vector) => vector.expect.accept);
    expect(accepting.length).toBeGreaterThanOrEqual(50);
    expect(vectors.length - accepting.length).toBeGreaterThanOrEqual(100);
  });

  it('at most ten of them cannot be sent over HTTP', () => {
    expect(vectors.length - travelling.length).toBeLessThanOrEqual(10);
  });
});

describe.each<[string, (headers: Vector['headers']) => HeaderSource, Vector[]]>([
  ['a list of pairs', (headers) => headers, vectors],
  ['an object, joined as Node does', (headers) => grouped(headers, (values) => values.join(', ')), vectors],
  [
    'an object, with lists of what is repeated',
    (headers) => grouped(headers, (values) => (values.length === 1 ? values.join() : values)),
    vectors,
  ],
  // It trims and refuses what HTTP does.
  ['a Headers', (headers) => new Headers(headers.map(([name, value]) => [name, value])), travelling],
])('the vectors with headers as %s', (_, toHeaders, some) => {
  const inputOf = (vector: Vector) => ({
    ...settingsOf(vector),
    headers: toHeaders(vector.headers),
    body: bodyOf(vector),
  });

  it.each(groups)('verify gives the verdict of each vector about %s', async (group) => {
    await expectVerdicts(some, group, async (vector) => accepted(verify(inputOf(vector))));
  });

  it.each(groups)('verifyAsync gives the verdict of each vector about %s', async (group) => {
    await expectVerdicts(some, group, async (vector) => accepted(await verifyAsync(inputOf(vector))));
  });
});

describe.each(mounts)('over a socket to $name', runVectors);

/** Headers as an object with lower-case names, the values of each put together. */
function grouped<T>(headers: Vector['headers'], combine: (values: string[]) => T): Record<string, T> {
  const byName = new Map<string, string[]>();
  for (const [name, value] of headers) {
    byName.set(name.toLowerCase(), [...(byName.get(name.toLowerCase()) ?? []), value]);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, combine(values)]));
}
