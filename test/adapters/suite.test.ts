import { adapterSuite } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { PLANTED_BUGS, serveParts } from './planted-bugs.js';

const optionsOf = (form: 'handler' | 'middleware', parts = {}) => ({
  form,
  serve: serveParts(form, parts),
  rawBodyFix: /Do not parse it/,
  without: { rawBody: 'nobody keeps it' },
});

describe.each(['handler', 'middleware'] as const)('adapterSuite on a right adapter, as %s', (form) => {
  for (const { name, skip, run } of adapterSuite(optionsOf(form))) it.skipIf(skip)(name, run, 30_000);
});

describe('adapterSuite', () => {
  it.each(Object.entries(PLANTED_BUGS))('catches an adapter that %s', async (_, { form, parts, caughtBy }) => {
    const found = adapterSuite(optionsOf(form, parts)).find(({ name }) => name === caughtBy);
    await expect(found?.run()).rejects.toThrow(/\(A\d: .+\)$/);
  });

  it('shows why a case is skipped, and leaves out what is about the other form', () => {
    const cases = adapterSuite({ ...optionsOf('handler'), without: { hangUp: 'it is called' } });
    expect(cases.filter(({ skip }) => skip).map(({ skip }) => skip)).toEqual(['it is called']);
    expect(cases.map(({ group }) => group)).not.toContain('routes');
  });
});
