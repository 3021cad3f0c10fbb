import { createReceiver } from 'service-webhooks';
import {
  type AccountLimits,
  type Answer,
  type ApiErrorCode,
  type Client,
  ensureEndpoint,
  freshDownloadUrl,
  isClientError,
  isServiceApiError,
  type SigningSecret,
} from 'service-webhooks/client';
import { describe, expectTypeOf, it } from 'vitest';

declare const client: Client;

describe('an answer', () => {
  it('data has the fields of the specification, or is unknown', () => {
    expectTypeOf(client.account.apiLimits()).resolves.toEqualTypeOf<Answer<AccountLimits>>();
    expectTypeOf<AccountLimits['limits']['daily_requests_used']>().toBeNumber();
    expectTypeOf(client.speechToSpeech()).resolves.toHaveProperty('data').toHaveProperty('max_source_seconds');
    for (const call of [client.usage, client.voices, client.models, client.webhooks.list]) {
      expectTypeOf(call()).resolves.toEqualTypeOf<Answer<unknown>>();
    }
    expectTypeOf(client.dubbing.job('1')).resolves.toEqualTypeOf<Answer<unknown>>();
    expectTypeOf(client.workflows.run('1', '2')).resolves.toEqualTypeOf<Answer<unknown>>();
    expectTypeOf(client.request({ path: '/' })).resolves.toEqualTypeOf<Answer<unknown>>();
  });

  it('the caller may name the type of the data', () => {
    expectTypeOf(client.voices<{ voices: string[] }>()).resolves.toEqualTypeOf<Answer<{ voices: string[] }>>();
  });
});

describe('the signing secret', () => {
  it('webhooks.create() returns an object and no text', async () => {
    const { signingSecret } = await client.webhooks.create({ url: 'https://a.example', events: ['stt.failed', 'new'] });
    expectTypeOf(signingSecret).toEqualTypeOf<SigningSecret>();
    // @ts-expect-error: it has to be revealed
    createReceiver({ secret: signingSecret });
    createReceiver({ secret: signingSecret.reveal() });
  });

  it('ensureEndpoint() returns it for a new endpoint alone', async () => {
    const ensured = await ensureEndpoint({ url: 'https://a.example', events: ['stt.failed'] }, client);
    if (ensured.action === 'created') expectTypeOf(ensured.signingSecret).toEqualTypeOf<SigningSecret>();
    else expectTypeOf(ensured.signingSecret).toEqualTypeOf<undefined>();
  });
});

describe('errors of the client', () => {
  it('the codes are known and open to new ones', () => {
    const error: unknown = new Error();
    if (isServiceApiError(error)) {
      expectTypeOf(error.code).toExtend<string>();
      expectTypeOf<'not_found'>().toExtend<typeof error.code>();
      expectTypeOf(error.is).parameters.toEqualTypeOf<[ApiErrorCode]>();
      expectTypeOf(error.status).toEqualTypeOf<number>();
      expectTypeOf(error.retry).toEqualTypeOf<'never' | 'later' | 'after-job' | 'now'>();
      // @ts-expect-error: no such code
      error.is('not_there');
    }
    if (isClientError(error)) {
      expectTypeOf(error.status).toEqualTypeOf<number | undefined>();
      expectTypeOf<'redirected'>().toExtend<typeof error.code>();
    }
  });
});

it('freshDownloadUrl() accepts the event of any handler', () => {
  createReceiver({
    secret: 'secret',
    on: {
      'generation.completed': (event) => freshDownloadUrl(event, client),
      '*': (event) => freshDownloadUrl(event, client),
    },
  });
});
