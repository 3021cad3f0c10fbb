import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyOf } from '../support/deliveries.js';
import { type Input, octokit, stripe, utf8 } from '../support/peers.js';
import { bytes, headerValues, nearlyGoodHeaders } from './arbitraries.js';
import { holds, options } from './holds.js';

/** Theirs is accepted only where ours is, and the other way round, but for the differences that are named. */
async function expectAgreement({ accepts, onlyOurs, onlyTheirs }: typeof stripe, input: Input) {
  const { ours, theirs } = await accepts(input);
  if (ours === theirs) return;
  const named = (ours ? onlyOurs : onlyTheirs).filter(({ applies }) => applies(input));
  expect(
    named.map(({ name }) => name),
    `accepted by ${ours ? 'us' : 'them'} alone`,
  ).not.toEqual([]);
}

const bodies = () =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(utf8(bodyOf())) }, fc.string({ unit: 'binary' }).map(utf8), bytes());
const texts = (some: fc.Arbitrary<unknown>) =>
  some.filter((value) => typeof value === 'string') as fc.Arbitrary<string>;

describe('stripe', () => {
  it('both accept the same headers and bodies, but for the named differences', options, () =>
    holds([fc.oneof(nearlyGoodHeaders(), texts(headerValues()), fc.constant(undefined)), bodies()], (header, body) =>
      expectAgreement(stripe, { header: header ?? stripe.signed(body), body }),
    ),
  );
});

describe('octokit', () => {
  it('both accept the same headers and bodies, but for the named differences', options, () =>
    holds([fc.oneof(fc.nat(), texts(headerValues()), fc.constant(undefined)), bodies()], (change, body) => {
      const right = octokit.signed(body);
      const changed = typeof change === 'number' ? right.replace(right[change % 71] as string, 'a') : change;
      return expectAgreement(octokit, { header: changed ?? right, body });
    }),
  );
});
