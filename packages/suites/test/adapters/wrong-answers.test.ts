import { adapterSuite } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { rawBodyFix } from '../../../../test/adapters/mounts/fetch-app.js';
import { lyingApp } from './lying-app.js';
import { WRONG_ANSWERS } from './wrong-answers.js';

describe.each(['handler', 'middleware'] as const)('adapterSuite on a %s that tells one thing wrongly', (form) => {
  it('has no other case', () => {
    const cases = adapterSuite({ form, serve: lyingApp(form, '') });
    const names = cases.filter(({ group }) => group !== 'endings').map(({ name }) => name);
    expect(names.filter((name) => !Object.values(WRONG_ANSWERS).some((wrong) => name in wrong))).toEqual([]);
  });

  const failureOf = (name: string, lie: string) =>
    adapterSuite({ form, serve: lyingApp(form, lie), rawBodyFix })
      .find((one) => one.name === name)
      ?.run()
      .then(
        () => undefined,
        (error: Error) => error.message,
      );

  for (const [name, wrong] of Object.entries(WRONG_ANSWERS[form])) {
    it(`${name}: says so`, async () => {
      expect(await failureOf(name, '')).toBeUndefined();
      for (const [says, lies] of Object.entries(wrong)) {
        for (const lie of lies) {
          const [, what] = /^(.+?)(?:, got .+)? \(A\d: .+\)$/s.exec((await failureOf(name, lie)) ?? '') ?? [];
          expect(what, lie).toBe(says);
        }
      }
    });
  }
});
