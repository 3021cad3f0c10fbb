import { WebhookError } from './errors.js';

/**
 * Checks a condition about an option. These checks are for authors of stores, queues and tools, whose users get the same
 * errors as from the library.
 *
 * @param problem The problem, beginning with the option as the user writes it, without the full stop.
 * @param hint What to do, for an option that has no default: a whole sentence.
 * @throws WebhookError `invalid_option` unless the condition is true
 * @example
 * check(text.startsWith('redis:'), 'url must begin with redis:');
 */
export function check(condition: boolean, problem: string, hint?: string): asserts condition {
  if (!condition) throw new WebhookError('invalid_option', { message: `${problem}.`, hint });
}

/**
 * Checks that an option is a positive integer.
 *
 * @throws WebhookError `invalid_option` for 0, NaN, fractions and values that are not numbers
 * @example
 * checkPositiveInteger('leaseMs', 25_000);
 */
export function checkPositiveInteger(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) > 0) return;
  check(false, `${name} must be a positive integer, but is ${describe(value)}`);
}

/**
 * Returns the options of these names, or their defaults, checked to be positive integers.
 *
 * @throws WebhookError `invalid_option` for another value
 * @example
 * const { leaseMs } = integers({ leaseMs: undefined }, { leaseMs: 25_000, retainMs: 259_200_000 });
 */
export function integers<Name extends string>(
  options: object,
  defaults: { readonly [N in Name]: number },
): { [N in Name]: number } {
  const values: { [N in Name]: number } = { ...defaults };
  for (const name in defaults) {
    const { [name]: value = defaults[name] } = options as Partial<typeof values>;
    checkPositiveInteger(name, value);
    values[name] = value;
  }
  return values;
}

/**
 * Checks that an option is one of the choices.
 *
 * @throws WebhookError `invalid_option` for another value
 * @example
 * checkChoice('onStoreError', 'refuse', ['refuse', 'process']);
 */
export function checkChoice(name: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const allowed = choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : choice)).join(' or ');
  const given = typeof value === 'string' && value.length <= 40 ? `'${value}'` : describe(value);
  check(false, `${name} must be ${allowed}, but is ${given}`);
}

/**
 * Checks that an option is an object.
 *
 * @throws WebhookError `invalid_option` for a value without properties
 * @example
 * checkObject('options', { leaseMs: 25_000 });
 */
export function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null) check(false, `${name} must be an object, but is ${describe(value)}`);
}

/**
 * Checks that an option is a function or left out.
 *
 * @throws WebhookError `invalid_option` for a value that is neither undefined nor a function
 * @example
 * checkFunction('now', Date.now);
 */
export function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  check(false, `${name} must be a function, but is ${describe(value)}`);
}

/**
 * Checks that every option has a known name.
 *
 * @param aliases Other names of options that people try, with the right ones.
 * @throws WebhookError `invalid_option` for the first unknown option, with the nearest known name
 * @example
 * checkKnownOptions('myStore', { leaseMs: 25_000 }, ['leaseMs', 'retainMs']);
 */
export function checkKnownOptions(
  subject: string,
  options: object,
  known: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = Object.hasOwn(aliases, unknown) ? aliases[unknown] : nearestName(unknown, known);
  const advice = nearest === undefined ? `It takes ${known.join(', ')}` : `Did you mean '${nearest}'?`;
  throw new WebhookError('invalid_option', { message: `Unknown option '${unknown}' in ${subject}.`, hint: advice });
}

/**
 * Returns the known name that a typing error most likely meant; undefined where none is close.
 *
 * @example
 * console.log(nearestName('leaseMS', ['leaseMs', 'retainMs'])); // leaseMs
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const MAX_LENGTH = 100; // The distance costs the product of both lengths.
  if (name.length > MAX_LENGTH) return undefined;
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** Returns the Levenshtein distance: how many characters have to be inserted, removed or replaced. */
function editDistance(from: string, to: string): number {
  let row = [...to, ''].map((_, index) => index);
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] as number) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}

/**
 * Returns a value for a message: numbers and the like as they are, otherwise the type alone, because text may be a
 * secret.
 */
function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return ['string', 'function', 'symbol'].includes(typeof value) ? `a ${typeof value}` : String(value);
}
