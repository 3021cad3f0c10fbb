import { describe, expect, it } from 'vitest';
import { apiCommand, called, keyOption, openClient } from '../../../src/cli/api/api-options.js';
import { ClientError } from '../../../src/client/client-error.js';
import { ServiceApiError } from '../../../src/client/service-api-error.js';
import { failureOf, failureOfPromise } from '../../support/failures.js';
import { aSession } from '../../support/session.js';

const refused = (more: { requestId?: string; retryAfter?: number } = {}) =>
  new ServiceApiError(
    { type: 'rate_limit_error', code: 'rate_limited', message: 'Too many.', docUrl: undefined, param: undefined },
    {
      ...{ status: 429, requestId: undefined, retryAfter: undefined, retry: 'later', nothingDone: true, attempts: 1 },
      ...more,
    } as never,
  );

describe('a call of the service', () => {
  it('gives what it gives', async () => {
    expect(await called(Promise.resolve(1))).toBe(1);
  });

  it.each([
    [{}, ''],
    [{ retryAfter: 0 }, ' Try again in 0 s.'],
    [{ requestId: 'req_1' }, ' (req_1)'],
    [{ retryAfter: 7, requestId: 'req_1' }, ' Try again in 7 s. (req_1)'],
  ])('fails with what the service said: %j', async (more, end) => {
    expect(await failureOfPromise(called(Promise.reject(refused(more))))).toBe(
      `1: the service says no: rate_limit_exceeded: Too many.${end}`,
    );
  });

  it('fails with what to do where no answer came', async () => {
    expect(await failureOfPromise(called(Promise.reject(new ClientError('timed_out', 'no answer'))))).toBe(
      '4: timed_out: no answer. Raise timeoutMs, or ask for less.',
    );
  });

  it('passes on whatever else it rejects with', async () => {
    const error = new Error('a fault');
    await expect(called(Promise.reject(error))).rejects.toBe(error);
  });
});

describe('the client of a command', () => {
  const options = { key: 'env:SERVICE_API_KEY', headerPrefix: 'x-service' };

  it('has to know where the API is', async () => {
    expect(await failureOfPromise(openClient(aSession({ SERVICE_API_KEY: 'sk_1' }), options))).toBe(
      '2: where is the API? Set SERVICE_URL, or give --base-url https://….',
    );
  });

  it('knows it from the environment, or as it is told', async () => {
    const env = { SERVICE_API_KEY: 'sk_1', SERVICE_URL: 'no URL' };
    await expect(openClient(aSession(env), options)).rejects.toThrow('baseUrl');
    expect(await openClient(aSession(env), { ...options, baseUrl: 'https://a.test' })).toHaveProperty('webhooks');
  });

  it('has a key that is text', async () => {
    const session = aSession({ SERVICE_URL: 'https://a.test' }, { key: new Uint8Array([255]) });
    expect(await failureOfPromise(openClient(session, { ...options, key: 'file:key' }))).toBe(
      '2: the API key is no text; look at where it comes from.',
    );
  });

  it('has its key from the environment if no place is named, and never from the command line', () => {
    const option = keyOption();
    expect(option.description).toContain('env:NAME, file:PATH');
    expect(option.defaultValue).toBe('env:SERVICE_API_KEY');
    const parse = option.parseArg as (source: string) => string;
    expect(parse('file:key')).toBe('file:key');
    expect(failureOf(() => parse('sk_1'))).toContain('a secret on the command line');
  });
});

describe('a command about the account', () => {
  it('is told where the API and its key are, and how its headers begin', () => {
    const command = apiCommand('limits');
    expect(command.name()).toBe('limits');
    expect(command.opts()).toEqual({ key: 'env:SERVICE_API_KEY', headerPrefix: 'x-service' });
    command.parse(['--base-url', 'https://a.test', '--header-prefix', 'My-App'], { from: 'user' });
    expect(command.opts()).toMatchObject({ baseUrl: 'https://a.test', headerPrefix: 'My-App' });
    expect(command.options.map(({ description }) => description)).toEqual([
      expect.stringContaining('where the API key is'),
      expect.stringContaining('env:SERVICE_URL'),
      expect.stringContaining('headers begin with'),
    ]);
  });
});
