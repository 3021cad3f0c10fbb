/** One case of a suite, for any test runner. */
export interface SuiteCase<Rule extends string> {
  /** The name: a sentence about the behaviour that is required. */
  name: string;
  /** The group of the case. */
  group: string;
  /** The rules that the case checks. */
  rules: readonly Rule[];
  /** Why the case cannot run with these options. */
  skip?: string | undefined;
  /** Rejects with an Error that names the broken rule. */
  run(): Promise<void>;
}

/** A case before it is bound to options. */
export interface TrialCase<Rule extends string, Options, Trial> {
  name: string;
  /** The rules that the case checks. A failure quotes the first one. */
  rules: readonly [Rule, ...Rule[]];
  /** Returns whether the suite has the case with these options. Default: always. */
  appliesTo?(options: Options): boolean;
  /** Returns why the case cannot run with these options. */
  skip?(options: Options): string | undefined;
  run(trial: Trial): Promise<void>;
}

/** Takes a function that is called after the case, whether it passes or fails. */
export type AtEnd = (close: () => unknown) => void;

/**
 * Returns the function that binds the cases of a suite to the options of its user. `trialOf` makes the tools of one case.
 */
export function defineSuite<Rule extends string, Options, Trial, Case extends TrialCase<Rule, Options, Trial>>(
  rules: Readonly<Record<Rule, string>>,
  groups: Readonly<Record<string, readonly Case[]>>,
  trialOf: (options: Options, atEnd: AtEnd, one: Case) => Trial | Promise<Trial>,
): (options: Options) => readonly SuiteCase<Rule>[] {
  async function run(one: Case, options: Options): Promise<void> {
    const closing: (() => unknown)[] = [];
    try {
      await one.run(await trialOf(options, (close) => closing.push(close), one));
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error;
      const [rule] = one.rules;
      throw new Error(`${error.message} (${rule}: ${rules[rule]})`, { cause: error });
    } finally {
      for (const close of closing) await close();
    }
  }

  return (options) =>
    Object.entries(groups).flatMap(([group, cases]) =>
      cases
        .filter((one) => one.appliesTo?.(options) ?? true)
        .map((one) => ({
          name: one.name,
          group,
          rules: one.rules,
          skip: one.skip?.(options),
          run: () => run(one, options),
        })),
    );
}

/** Returns the `skip` of a case that needs a hook of the options. */
export function needs<Hook extends string>(hook: Hook) {
  return (options: { readonly [Name in Hook]?: unknown }) =>
    options[hook] === undefined ? `needs ${hook}` : undefined;
}

/** The error of a case that has found a broken rule. */
export class BrokenRule extends Error {}

/** Throws unless the condition is true; the running case adds its rule to the error. */
export function must(holds: boolean, what: string, found?: unknown): asserts holds {
  if (holds) return;
  const text = typeof found === 'string' ? found : JSON.stringify(found);
  throw new BrokenRule(text === undefined ? what : `${what}, got ${text}`);
}
