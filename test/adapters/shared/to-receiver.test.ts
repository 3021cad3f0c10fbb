import { createReceiver, type MiddlewareOptions } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/express';
import { describe, expect, it } from 'vitest';
import { SECRET } from '../../support/deliveries.js';

describe('webhookMiddleware', () => {
  it.each([
    ['on', {}],
    ['queue', { put: async () => 'enqueued' }],
    ['deadlineMs', 1_000],
  ])('the option %s, which only webhookHandler has, is refused', (option, value) => {
    const options = { secret: SECRET, [option]: value } as unknown as MiddlewareOptions;
    expect(() => webhookMiddleware(options)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(`${option} has no effect in webhookMiddleware`),
        hint: `Use webhookHandler, or remove ${option}.`,
      }),
    );
  });

  it('a receiver with a queue is refused', () => {
    const receiver = createReceiver({ secret: SECRET, queue: { name: 'clips', put: async () => 'queued' } });
    expect(() => webhookMiddleware(receiver)).toThrow('queue has no effect in webhookMiddleware');
  });
});
