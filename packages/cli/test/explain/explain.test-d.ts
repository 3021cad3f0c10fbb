import type { VerifyInput, WebhookErrorCode } from 'service-webhooks';
import { type Cause, type Certainty, type ExplainInput, type Explanation, explain } from 'service-webhooks-cli/explain';
import { expectTypeOf, it } from 'vitest';

it('explain takes what verify takes, and what verify refuses as a body or a secret', () => {
  expectTypeOf<VerifyInput>().toExtend<ExplainInput>();
  explain({ headers: {}, body: { id: 'evt_1' }, secret: undefined });
  // @ts-expect-error: it looks at the headers
  explain({ body: '', secret: '' });
});

it('an explanation is a verdict and causes with names that are known', () => {
  expectTypeOf(explain).returns.toEqualTypeOf<Explanation>();
  expectTypeOf<Explanation['verdict']>().toEqualTypeOf<'accepted' | WebhookErrorCode>();
  expectTypeOf<Certainty>().toEqualTypeOf<'certain' | 'likely' | 'possible'>();
  expectTypeOf<'body_reserialised'>().toExtend<Cause['cause']>();
  expectTypeOf<string>().not.toExtend<Cause['cause']>();
});
