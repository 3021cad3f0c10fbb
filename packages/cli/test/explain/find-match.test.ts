import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Repair } from '../../src/explain/causes.js';
import type { Claim } from '../../src/explain/claims.js';
import { BRIEF_EFFORT, createBudget } from '../../src/explain/effort.js';
import { findMatch } from '../../src/explain/find-match.js';

const SECRET = 'whsec_4f2c9a7e51d8b360';
const MIB = 1024 * 1024;

const asItIs = (text: string): Repair => ({ bytes: Buffer.from(text), findings: [] });
const mended = (text: string): Repair => ({
  bytes: Buffer.from(text),
  findings: [{ cause: 'newline_added', evidence: text }],
});
function claim(signed: string, { prefix = '', secret = SECRET } = {}): Claim {
  const mac = createHmac('sha256', secret)
    .update(prefix + signed)
    .digest('hex');
  return { header: 'v2', prefix, mac, t: undefined, findings: [] };
}
const wrong: Claim = { ...claim('x'), mac: '0'.repeat(64) };

describe('the search of explain for what was signed', () => {
  it('a valid signature is found with the body and the secret unchanged', () => {
    const [body, secret, claimed] = [asItIs('a'), asItIs(SECRET), claim('a')];
    expect(findMatch([wrong, claimed], [asItIs('other'), secret], () => [body])).toEqual({
      match: { claim: claimed, secret, body },
      complete: true,
    });
  });

  it('the signed time is part of what was signed', () => {
    const claimed = claim('a', { prefix: '7.' });
    expect(findMatch([claimed], [asItIs(SECRET)], () => [asItIs('a')]).match?.claim).toBe(claimed);
    expect(findMatch([claimed], [asItIs(SECRET)], () => [asItIs('7.a')]).match?.claim).toBe(undefined);
    expect(findMatch([claim('7.a')], [asItIs(SECRET)], () => [asItIs('7.a')]).match).toBeDefined();
  });

  it('a match is found with another form of the body, of the secret, or of both', () => {
    const [body, secret] = [mended('b'), mended(SECRET)];
    const bodies = () => [asItIs('a'), body];
    expect(findMatch([claim('b')], [asItIs(SECRET)], bodies).match).toMatchObject({ body });
    expect(findMatch([claim('a')], [asItIs('other'), secret], bodies).match).toMatchObject({
      secret,
      body: asItIs('a'),
    });
    expect(findMatch([claim('b')], [asItIs('other'), secret], bodies)).toMatchObject({
      match: { secret, body },
      complete: true,
    });
  });

  it('a form of the body is preferred to a form of the secret', () => {
    const other = 'other';
    const claims = [claim('a', { secret: other }), claim('b')];
    const { match } = findMatch(claims, [asItIs(SECRET), mended(other)], () => [asItIs('a'), mended('b')]);
    expect(match?.claim).toBe(claims[1]);
  });

  it('there is no match where no form fits, and the search is complete', () => {
    const result = findMatch([wrong], [asItIs(SECRET), mended('other')], () => [asItIs('a'), mended('b')]);
    expect(result).toEqual({ match: undefined, complete: true });
    expect(findMatch([], [asItIs(SECRET)], () => [asItIs('a')])).toEqual({ match: undefined, complete: true });
    expect(findMatch([wrong], [], () => [asItIs('a')])).toEqual({ match: undefined, complete: true });
    expect(findMatch([wrong], [asItIs(SECRET)], () => [])).toEqual({ match: undefined, complete: true });
  });

  it('a match is found where the secret fits only in another form', () => {
    expect(findMatch([claim('a')], [mended(SECRET)], () => [asItIs('a')]).match).toBeDefined();
  });

  it('bodies over a total size end the search early, and the result says so', () => {
    const large = { bytes: new Uint8Array(512 * MIB), findings: [] };
    const bodies = () => [large, asItIs('a')];
    expect(findMatch([claim('a')], [asItIs(SECRET)], bodies)).toEqual({ match: undefined, complete: false });
  });

  it('empty bodies end the search too, by their number', () => {
    const most = Array<Repair>(16_384).fill(asItIs(''));
    const bodies = () => [...most, asItIs('a')];
    expect(findMatch([claim('a')], [asItIs(SECRET)], () => most)).toEqual({ match: undefined, complete: true });
    expect(findMatch([claim('a')], [asItIs(SECRET)], bodies)).toEqual({ match: undefined, complete: false });
  });

  it('too many forms of the secret are not combined with the body', () => {
    const secrets = Array<Repair>(16_385).fill(mended('other'));
    expect(findMatch([wrong], secrets, () => [asItIs('')])).toEqual({ match: undefined, complete: false });
  });

  it('no form is tried when the time is used up', () => {
    let time = 0;
    const budget = createBudget(BRIEF_EFFORT, () => time);
    function* bodies() {
      yield asItIs('b');
      time += BRIEF_EFFORT.maxMs + 1;
      yield asItIs('a');
    }
    const found = findMatch([claim('a')], [asItIs(SECRET), mended('other')], bodies, budget);
    expect(found).toEqual({ match: undefined, complete: false });
  });
});
