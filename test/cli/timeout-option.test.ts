import { expect, it } from 'vitest';
import { timeoutOption } from '../../src/cli/timeout-option.js';

it('is as long as the service waits, unless another time is given with its unit', () => {
  const option = timeoutOption();
  expect(option).toMatchObject({ long: '--timeout', defaultValue: 20_000, defaultValueDescription: '20s' });
  expect(option.description).toContain('how long to wait');
  expect((option.parseArg as (text: string) => number)('2s')).toBe(2_000);
});
