import { ERRORS } from 'service-webhooks';
import { expect, it } from 'vitest';
import { ADVICE, type RefusalCause } from '../../src/diagnosis/advice.js';
import { briefOf } from '../../src/diagnosis/brief.js';

it('each cause has other words, which fit in the row of a list', () => {
  const causes = [...Object.keys(ADVICE), ...Object.keys(ERRORS)] as RefusalCause[];
  const words = causes.map(briefOf);
  expect(new Set(words).size).toBe(words.length);
  for (const text of words) expect(text).toMatch(/^[A-Za-z][A-Za-z0-9, ]{3,40}$/);
  expect(briefOf('signature_mismatch')).toBe('signature mismatch');
});
