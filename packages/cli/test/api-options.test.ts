import { ClientError, ServiceApiError } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { failureOf, failureOfPromise } from '../../../test/support/failures.js';
import { apiCommand, called, openClient } from '../src/api-options.js';
import { aSession } from './support/session.js';

const refused = (more: { requestId?: string; retryAfter?: number } = {}) =>
  new ServiceApiError(
    { type: 'rate_limit_error', code: 'rate_limited', message: 'Too many.', docUrl: undefined, param: undefined },
    {
      ...{ status: 429, requestId: undefined, retryAfter: undefined, retry: 'later', nothingDone: true, attempts: 1 },
      ...more,
    } as never,
  );

describe('a command that calls the API of the service', () => {
  it('the result of the call is returned', async () => {
    expect(await called(Promise.resolve(1))).toBe(1);
  });

  it.each([
    [{}, ''],
    [{ retryAfter: 0 }, ' Try again in 0 s.'],
    [{ requestId: 'req_1' }, ' (req_1)'],
    [{ retryAfter: 7, requestId: 'req_1' }, ' Try again in 7 s. (req_1)'],
  ])('a refusal fails with its code, the time to retry and the request id: %j', async (more, end) => {
    expect(await failureOfPromise(called(Promise.reject(refused(more))))).toBe(
      `1: the service says no: rate_limit_exceeded: Too many.${end}`,
    );
  });

  it('a call without an answer fails with exit code 4 and advice', async () => {
    expect(await failureOfPromise(called(Promise.reject(new ClientError('timed_out', 'No answer.'))))).toBe(
      '4: No answer. Raise timeoutMs, or ask for less. (timed_out)',
    );
  });

  it('an error of another kind is thrown unchanged', async () => {
    const error = new Error('a fault');
    await expect(called(Promise.reject(error))).rejects.toBe(error);
  });
});

describe('the API client of a command', () => {
  const options = { key: 'env:SERVICE_API_KEY', headerPrefix: 'x-service' };

  it('the address of the API is required', async () => {
    expect(await failureOfPromise(openClient(aSession({ SERVICE_API_KEY: 'sk_1' }), options))).toBe(
      '2: where is the API? Set SERVICE_URL to its address, https://…, or baseUrl in service-webhooks.json.',
    );
  });

  it('the address of the API is read from SERVICE_URL or from --base-url', async () => {
    const env = { SERVICE_API_KEY: 'sk_1', SERVICE_URL: 'no URL' };
    await expect(openClient(aSession(env), options)).rejects.toThrow('baseUrl');
    expect(await openClient(aSession(env), { ...options, baseUrl: 'https://a.test' })).toHaveProperty('webhooks');
  });

  it('an API key that is no text is refused', async () => {
    const session = aSession({ SERVICE_URL: 'https://a.test' }, { key: new Uint8Array([255]) });
    expect(await failureOfPromise(openClient(session, { ...options, key: 'file:key' }))).toBe(
      '2: the API key is no text; look at where it comes from.',
    );
  });

  it('--key names the source of the API key, and refuses the key itself', () => {
    const command = apiCommand('limits');
    expect(command.options[0]?.description).toContain('env:NAME, file:PATH');
    expect(command.parse(['--key', 'file:key'], { from: 'user' }).opts().key).toBe('file:key');
    const refused = failureOf(() => command.parse(['--key', 'sk_1'], { from: 'user' }));
    expect(refused).toContain('a secret on the command line');
  });
});

it('commands that call the API have options for its address, its key and the header prefix', () => {
  const command = apiCommand('limits');
  expect(command.name()).toBe('limits');
  expect(command.opts()).toEqual({ key: 'env:SERVICE_API_KEY', headerPrefix: 'x-service' });
  command.parse(['--base-url', 'https://a.test', '--header-prefix', 'My-App'], { from: 'user' });
  expect(command.opts()).toMatchObject({ baseUrl: 'https://a.test', headerPrefix: 'My-App' });
  expect(command.options.map(({ description }) => description)).toEqual([
    expect.stringContaining('the source of the API key'),
    expect.stringContaining('env:SERVICE_URL'),
    expect.stringContaining('header names'),
  ]);
});
