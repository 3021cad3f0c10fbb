import { describe, expect, it } from 'vitest';
import { bodyOf } from './support/deliveries.js';
import { type Difference, octokit, stripe, utf8 } from './support/peers.js';

// That there are no other differences is a property: test/properties/peers.test.ts.
for (const { name, signed, accepts, onlyOurs, onlyTheirs } of [stripe, octokit]) {
  describe(name, () => {
    const verdictsOn = async ({ shown, applies }: Difference) => {
      const body = shown.body ?? utf8(bodyOf());
      const input = { header: signed(body), ...shown, body };
      expect(applies(input)).toBe(true);
      return accepts(input);
    };

    it.each(onlyTheirs)('this library refuses $name, and the compared library accepts it', async (difference) => {
      expect(await verdictsOn(difference)).toEqual({ ours: false, theirs: true });
    });

    it.each(onlyOurs)('this library accepts $name, and the compared library refuses it', async (difference) => {
      expect(await verdictsOn(difference)).toEqual({ ours: true, theirs: false });
    });
  });
}
