import { checkKnownOptions, checkObject } from '../option-checks.js';
import type { Answer } from './answer.js';
import { ACCOUNT_LIMITS, type AccountLimits, SPEECH_TO_SPEECH, type SpeechToSpeech } from './answer-data.js';
import { type ClientOptions, readOptions } from './options.js';
import type { RateState } from './rate-limits.js';
import { type CallOptions, type ClientRequest, createSendRequest, segment } from './request.js';
import { createWebhooks, type Webhooks } from './webhooks.js';

/**
 * The service's API. An answer whose fields the service does not document is `unknown`, or has the type that you name.
 */
export interface Client {
  /** The rate limits in the latest answer that had any; undefined before the first. */
  readonly rate: RateState | undefined;
  readonly account: {
    /** Returns the plan, the credits and the limits of a working key. Needs no scope and costs nothing. */
    apiLimits(options?: CallOptions): Promise<Answer<AccountLimits>>;
  };
  /** Returns quotas and recent consumption. Scope `analytics:read`. */
  usage<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  readonly webhooks: Webhooks;
  readonly dubbing: {
    /** Returns the result of a dubbing job or a subtitle job. */
    job<T = unknown>(id: string, options?: CallOptions): Promise<Answer<T>>;
  };
  readonly workflows: {
    /** Returns the outputs of a workflow run. */
    run<T = unknown>(id: string, runId: string, options?: CallOptions): Promise<Answer<T>>;
  };
  /** Returns the voices that the key may use. */
  voices<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  /** Returns the synthesis models, and which of them are available. */
  models<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  /** Returns the longest audio that the voice changer converts. */
  speechToSpeech(options?: CallOptions): Promise<Answer<SpeechToSpeech>>;
  /**
   * Calls any other route.
   *
   * @example
   * const { data } = await client.request<{ token: string }>({ method: 'POST', path: '/v1/speech-to-text/stream/token' });
   */
  request<T = unknown>(request: ClientRequest): Promise<Answer<T>>;
}

const REQUEST_OPTIONS: readonly (keyof ClientRequest)[] = [
  'method',
  'path',
  'body',
  'repeatable',
  'signal',
  'timeoutMs',
];

/**
 * Creates a client of the service's API.
 *
 * Every call resolves to an {@link Answer}. It rejects with a {@link ServiceApiError} where the service refuses, with a
 * {@link ClientError} where no answer of the service arrives, and with a WebhookError `invalid_option` before anything
 * is sent. Failed requests are retried as `docs/client.md` describes, within `timeoutMs` for the whole call; a POST
 * only where the earlier attempt is known to have had no effect. The key is sent to `baseUrl` only.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 * const { data } = await client.account.apiLimits();
 * console.log(data.plan.name, data.credits.remaining);
 */
export function createClient(options: ClientOptions): Client {
  let rate: RateState | undefined;
  const sendRequest = createSendRequest(readOptions(options), (latest) => {
    rate = latest;
  });
  return {
    get rate() {
      return rate;
    },
    account: {
      apiLimits: (options) => sendRequest({ path: '/api/v1/account/api-limits', shape: ACCOUNT_LIMITS }, options),
    },
    usage: (options) => sendRequest({ path: '/api/v1/usage' }, options),
    webhooks: createWebhooks(sendRequest),
    dubbing: {
      job: async (id, options) => sendRequest({ path: `/v1/dubbing/jobs/${segment('id', id)}` }, options),
    },
    workflows: {
      async run(id, runId, options) {
        const path = `/v1/workflows/${segment('id', id)}/runs/${segment('runId', runId)}`;
        return sendRequest({ path }, options);
      },
    },
    voices: (options) => sendRequest({ path: '/v1/voices' }, options),
    models: (options) => sendRequest({ path: '/v1/models' }, options),
    speechToSpeech: (options) => sendRequest({ path: '/v1/speech-to-speech', shape: SPEECH_TO_SPEECH }, options),
    async request(given) {
      checkObject('request', given);
      checkKnownOptions('request', given, REQUEST_OPTIONS);
      const { signal, timeoutMs, ...request } = given;
      return sendRequest(request, { signal, timeoutMs });
    },
  };
}
