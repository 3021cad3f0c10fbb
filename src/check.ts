import { WebhookError } from './errors.js';

/** @throws WebhookError `invalid_option` unless it holds; `problem` begins with the option as the user writes it */
export function check(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new WebhookError('invalid_option', 500, 'Correct it.', problem);
}

/** 0, NaN and fractions are refused: what reads them later would take them for something else. */
export function checkPositiveInteger(name: string, value: unknown): void {
  if (!(Number.isSafeInteger(value) && (value as number) > 0)) check(false, `${name} must be a positive integer`);
}

/** The options of these names, or their defaults, checked to be positive integers. */
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

/** @throws WebhookError `invalid_option` for a value that is none of the choices */
export function checkChoice(name: string, value: unknown, choices: readonly unknown[]): void {
  if (!choices.includes(value)) check(false, `${name} must be ${choices.join(' or ')}`);
}

/** @throws WebhookError `invalid_option` for a value without properties */
export function checkObject(name: string, value: unknown): asserts value is object {
  check(typeof value === 'object' && value !== null, `${name} must be an object`);
}

/** @throws WebhookError `invalid_option` for what is given and no function */
export function checkFunction(name: string, value: unknown): void {
  check(value === undefined || typeof value === 'function', `${name} must be a function`);
}
