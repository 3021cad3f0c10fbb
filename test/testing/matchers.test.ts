import { expect as jestExpect } from 'expect';
import express from 'express';
import { ERRORS, type Receiver, sign } from 'service-webhooks';
import { webhookHandler as expressHandler } from 'service-webhooks/express';
import { webhookHandler as fetchHandler } from 'service-webhooks/fetch';
import { sampleEvent, signDelivery, tamper, toRequest, toSupertest } from 'service-webhooks/testing';
import { matchers } from 'service-webhooks/testing/matchers';
import supertest from 'supertest';
import { describe, it, expect as vitestExpect } from 'vitest';
import { aReceiver, NOW, rejection, SECRET } from '../support/deliveries.js';

vitestExpect.extend(matchers);
jestExpect.extend(matchers);

const { receiver } = aReceiver({ dedupe: false });
const app = express().post('/webhooks', expressHandler(receiver));
const deliver = () => signDelivery({ event: sampleEvent('stt.completed'), secret: SECRET, at: NOW });

/** Each kind of answer, to a delivery. */
const answers: Record<string, (delivery: ReturnType<typeof deliver>) => unknown> = {
  'a promise of a WebhookResponse': (delivery) => receiver(delivery),
  'a Fetch Response': (delivery) => fetchHandler(receiver)(toRequest(delivery, 'http://receiver.test')),
  supertest: (delivery) => supertest(app).post('/webhooks').use(toSupertest(delivery)),
  'the result of a Lambda function': (delivery) =>
    receiver(delivery).then(({ status, body }) => ({ statusCode: status, body })),
  'a result in base64': (delivery) =>
    receiver(delivery).then(({ status, body }) => ({ statusCode: status, body: btoa(body), isBase64Encoded: true })),
};

// The one is extended by the global interface of @types/jest, the other is what @jest/globals gives.
describe.each([
  ['vitest', vitestExpect],
  ['jest', jestExpect as never as typeof vitestExpect],
])('the matchers of the test kit in %s', (_, expect) => {
  it.each(Object.entries(answers))(
    'toAcknowledge and toRefuseWith pass and fail by the answer of %s',
    async (_, answerTo) => {
      await expect(answerTo(deliver())).toAcknowledge();
      await expect(answerTo(tamper.stale(deliver()))).not.toAcknowledge();
      await expect(answerTo(tamper.stale(deliver()))).toRefuseWith('timestamp_too_old');
      await expect(answerTo(tamper.stale(deliver()))).not.toRefuseWith('timestamp_in_future');
      await expect(answerTo(deliver())).not.toRefuseWith('timestamp_too_old');
    },
  );

  it('the message of a failed test has the status, code and hint of the answer', async () => {
    const message = (promise: Promise<void>) =>
      promise.then(
        () => 'no failure',
        ({ message }: Error) => message,
      );
    const forged = tamper.flippedBit(deliver());
    const refused = 'expected the answer to acknowledge the delivery (2xx), and it is: 401 signature_mismatch\n';
    const { message: why, hint } = ERRORS.signature_mismatch;
    expect(await message(expect(receiver(forged)).toAcknowledge())).toBe(
      `${refused}${why} ${hint} (signature_mismatch)`,
    );
    const response = supertest(app).post('/webhooks').use(toSupertest(forged));
    expect(await message(expect(response).toAcknowledge())).toBe(`${refused}${why} ${hint}`);
    expect(await message(expect(receiver(deliver())).toRefuseWith('signature_mismatch'))).toBe(
      'expected the answer to refuse the delivery with signature_mismatch, and it is: 200 {"outcome":"handled"}',
    );
    expect(await message(expect({ status: 204 }).not.toAcknowledge())).toBe(
      'expected the answer not to acknowledge the delivery (2xx), and it is: 204',
    );
  });

  it('the message for a handler that failed has the hint and the thrown value', async () => {
    const failing = (thrown: unknown) => {
      const throws = () => {
        throw thrown;
      };
      const { receiver } = aReceiver({ on: { '*': throws } });
      return expect(expect(receiver(deliver())).toAcknowledge()).rejects;
    };
    await failing(new RangeError('the disk is full')).toThrow(
      /500 handler_failed\nYour handler failed.* Fix error\.cause.*\nCaused by RangeError: the disk is full\n +at .*matchers\.test/s,
    );
    await failing('no space').toThrow(/\nCaused by no space$/);
  });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('toAcknowledge takes the status %i as an acknowledgement: %s', async (status, acknowledges) => {
    const expected = acknowledges ? expect({ status }) : expect({ status }).not;
    await expected.toAcknowledge();
  });

  it('the message of a failed test has the first 200 characters of a long answer', async () => {
    const failure = expect({ status: 500, body: 'x'.repeat(10_000) }).toAcknowledge();
    await vitestExpect(failure).rejects.toThrow(/and it is: 500 x{200}$/);
  });

  it('a Response can still be read after toAcknowledge', async () => {
    const response = await fetchHandler(receiver)(toRequest(deliver(), 'http://receiver.test'));
    await expect(response).toAcknowledge();
    expect(await response.json()).toEqual({ outcome: 'handled' });
    expect(await rejection(expect(response).toAcknowledge())).toMatchObject({ code: 'invalid_option' });
  });

  it('an answer of another program never matches a code of this library', async () => {
    for (const body of ['', 'Unauthorized', '{}', '{"error":null}', '{"error":{"code":401}}', 'null']) {
      await expect({ status: 401, body }).not.toAcknowledge();
      await expect({ status: 401, body }).not.toRefuseWith('signature_mismatch');
    }
    await expect({ status: 200, body: '{"error":{"code":"signature_mismatch"}}' }).not.toRefuseWith(
      'signature_mismatch',
    );
    await expect({ status: 302, headers: {} }).not.toAcknowledge();
  });

  it('expect() of a value that is no answer is refused', async () => {
    for (const nothing of [undefined, null, receiver as Receiver, {}, Promise.resolve(200)]) {
      const { code, message } = await rejection(expect(nothing).toAcknowledge());
      expect(`${code} ${message}`).toMatch(/^invalid_option .*expect\(\) must be given an answer/);
    }
    await expect(expect(Promise.reject(new Error('refused'))).toAcknowledge()).rejects.toThrow('refused');
  });
});

it('toAcknowledge accepts the answer to a delivery that was signed without the test kit', async () => {
  const body = JSON.stringify(sampleEvent('stt.completed'));
  const request = { method: 'POST', headers: sign({ body, secret: SECRET, at: NOW }), body };
  await vitestExpect(receiver(request)).toAcknowledge();
});
