import { check } from '../option-checks.js';

/**
 * @throws WebhookError `invalid_option` unless the name can be a part of every key
 */
export function checkQueueName(option: string, name: unknown): asserts name is string {
  const isName = typeof name === 'string' && /^[!-9;-~]{1,64}$/.test(name);
  check(isName, `${option} must be 1 to 64 visible ASCII characters without a colon`);
}
