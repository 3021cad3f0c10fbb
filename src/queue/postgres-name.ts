import { check } from '../option-checks.js';

/** @throws WebhookError `invalid_option` unless the name needs no quotes in SQL */
export function checkPostgresName(option: string, name: unknown): asserts name is string {
  const isName = typeof name === 'string' && /^[a-z_][a-z0-9_]{0,49}$/.test(name);
  check(isName, `${option} must be a name without quotes`);
}
