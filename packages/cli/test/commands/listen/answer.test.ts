import { WebhookError } from 'service-webhooks';
import { expect, it } from 'vitest';
import { aReceiver, aRequest } from '../../../../../test/support/deliveries.js';
import { plain, refusedWith } from '../../../src/commands/listen/answer.js';

it.each([204, 205, 304])('an answer of listen has no body where HTTP allows none: %i', (status) => {
  expect(plain(status, 'as_told')).toMatchObject({ status, body: '' });
});

it.each([
  ['method_not_allowed', { method: 'PUT' }],
  ['missing_signature', { headers: {} }],
  ['body_too_large', { body: Buffer.alloc(2_000) }],
  ['body_incomplete', { body: (async function* () {})(), signal: AbortSignal.abort() }],
] as const)('listen refuses with the same answer as a receiver, byte for byte: %s', async (code, changes) => {
  const { receiver } = aReceiver({ maxBodyBytes: 1_000 });
  const answer = await receiver({ ...aRequest(), ...changes });
  const response = refusedWith(new WebhookError(code));
  expect(response).toEqual(answer);
  expect(Object.entries(response.headers)).toEqual(Object.entries(answer.headers));
});
