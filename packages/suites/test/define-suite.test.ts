import { describe, expect, it } from 'vitest';
import { type AtEnd, BrokenRule, defineSuite, must, needs, type TrialCase } from '../src/define-suite.js';

interface Options {
  hook?: () => void;
  form?: string;
  onTrial?(atEnd: AtEnd): void;
}

type Case = TrialCase<'X1' | 'X2', Options, { name: string }>;

const aCase = (name: string, one: Partial<Case> = {}): Case => ({
  name,
  rules: ['X1', 'X2'],
  run: async () => {},
  ...one,
});

/** Binds one case. The tools of its trial are its own name. */
const suiteOf = (one: Case, options: Options = {}) => {
  const suite = defineSuite(
    { X1: 'the first rule', X2: 'the second' },
    { group: [one] },
    ({ onTrial }: Options, atEnd, { name }: Case) => {
      onTrial?.(atEnd);
      return { name };
    },
  );
  return suite(options);
};

describe('defineSuite', () => {
  it('a case has its name, its group and its rules', () => {
    expect(suiteOf(aCase('one'))).toEqual([
      { name: 'one', group: 'group', rules: ['X1', 'X2'], skip: undefined, run: expect.any(Function) },
    ]);
  });

  it('a case that needs a missing hook has the reason in skip', () => {
    const one = aCase('one', { skip: needs('hook') });
    expect([suiteOf(one)[0]?.skip, suiteOf(one, { hook() {} })[0]?.skip]).toEqual(['needs hook', undefined]);
  });

  it('a case about other options is left out', () => {
    const one = aCase('one', { appliesTo: ({ form }) => form === 'round' });
    expect([suiteOf(one, { form: 'round' }).length, suiteOf(one).length]).toEqual([1, 0]);
  });

  it('a case runs with the tools of its trial', async () => {
    const found: string[] = [];
    await suiteOf(aCase('one', { run: async ({ name }) => void found.push(name) }))[0]?.run();
    expect(found).toEqual(['one']);
  });

  it('a broken rule is named with its text, and any other error is passed on', async () => {
    const failing = (call: () => void) => suiteOf(aCase('one', { run: async () => call() }))[0]?.run();
    await expect(failing(() => must(false, 'it is so'))).rejects.toThrow(/^it is so \(X1: the first rule\)$/);
    await expect(failing(() => expect.fail('a fault of its own'))).rejects.toThrow(/^a fault of its own$/);
  });

  it.each([
    ['passes', async () => {}],
    ['fails', async () => must(false, 'it is so')],
  ])('what a trial has opened is closed in order after a case that %s', async (_, run) => {
    const closed: string[] = [];
    const onTrial = (atEnd: AtEnd) => {
      atEnd(async () => void closed.push('first'));
      atEnd(() => closed.push('second'));
    };
    await suiteOf(aCase('one', { run }), { onTrial })[0]
      ?.run()
      .catch(() => {});
    expect(closed).toEqual(['first', 'second']);
  });

  it('what was opened before a trial failed to start is closed', async () => {
    const closed: string[] = [];
    const onTrial = (atEnd: AtEnd) => {
      atEnd(() => closed.push('first'));
      throw new Error('no second client');
    };
    await expect(suiteOf(aCase('one'), { onTrial })[0]?.run()).rejects.toThrow('no second client');
    expect(closed).toEqual(['first']);
  });
});

describe('must', () => {
  it('a condition that is true passes', () => {
    expect(() => must(true, 'it is so', 'this')).not.toThrow();
  });

  it.each([
    ['nothing', undefined, 'it is so'],
    ['text', 'that', 'it is so, got that'],
    ['a value', { status: 200 }, 'it is so, got {"status":200}'],
    ['null', null, 'it is so, got null'],
  ])('a condition that is false throws with what was found: %s', (_, found, message) => {
    expect(() => must(false, 'it is so', found)).toThrow(new BrokenRule(message));
  });
});
