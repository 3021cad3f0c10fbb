import type { Answer } from './answer.js';
import { type CallOptions, type ClientRequest, createRequest, segment } from './create-request.js';
import { type ClientOptions, readOptions } from './options.js';
import type { RateState } from './rate.js';
import { createSend } from './send.js';
import { ACCOUNT_LIMITS, type AccountLimits, SPEECH_TO_SPEECH, type SpeechToSpeech } from './shown.js';
import { createWebhooks, type Webhooks } from './webhooks.js';

/** The service's API (specification, section 4). What the specification does not show is `unknown`, or what you say. */
export interface Client {
  /** What the latest answer said is left; undefined before the first. */
  readonly rate: RateState | undefined;
  readonly account: {
    /** Whether the key works, its plan, its credits and its limits. Needs no scope, costs nothing. */
    apiLimits(options?: CallOptions): Promise<Answer<AccountLimits>>;
  };
  /** Quotas and recent consumption. Scope `analytics:read`. */
  usage<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  readonly webhooks: Webhooks;
  readonly dubbing: {
    /** The result of a dubbing job or a subtitle job. */
    job<T = unknown>(id: string, options?: CallOptions): Promise<Answer<T>>;
  };
  readonly workflows: {
    /** The outputs of a run. */
    run<T = unknown>(id: string, runId: string, options?: CallOptions): Promise<Answer<T>>;
  };
  /** The voices that the key may use. */
  voices<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  /** The synthesis models, and which are available. */
  models<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  /** The longest audio that the voice changer converts. */
  speechToSpeech(options?: CallOptions): Promise<Answer<SpeechToSpeech>>;
  /**
   * Any other route.
   *
   * @example
   * const { data } = await client.request<{ token: string }>({ method: 'POST', path: '/v1/speech-to-text/stream/token' });
   */
  request<T = unknown>(request: ClientRequest): Promise<Answer<T>>;
}

/**
 * A client of the service's API.
 *
 * Every call gives an {@link Answer}, or rejects: with a {@link ServiceApiError} where the service says no, with a
 * {@link ClientError} where there is no answer of the service, with a WebhookError `invalid_option` before anything is
 * sent. What may be sent again is sent again, as section 7.3 says, within `timeoutMs` for the whole call; a POST only if
 * it is known that the one before had no effect. The key goes to `baseUrl` and to nobody else.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 * const { data } = await client.account.apiLimits();
 * console.log(data.plan.name, data.credits.remaining);
 */
export function createClient(options: ClientOptions): Client {
  const ready = readOptions(options);
  let rate: RateState | undefined;
  const send = createSend(ready, (latest) => {
    rate = latest;
  });
  const { request, requestShown } = createRequest(ready, send);
  return {
    get rate() {
      return rate;
    },
    account: {
      apiLimits: (options) =>
        requestShown<AccountLimits>({ ...options, path: '/api/v1/account/api-limits' }, ACCOUNT_LIMITS),
    },
    usage: (options) => request({ ...options, path: '/api/v1/usage' }),
    webhooks: createWebhooks(request),
    dubbing: { job: async (id, options) => request({ ...options, path: `/v1/dubbing/jobs/${segment('id', id)}` }) },
    workflows: {
      run: async (id, runId, options) =>
        request({ ...options, path: `/v1/workflows/${segment('id', id)}/runs/${segment('runId', runId)}` }),
    },
    voices: (options) => request({ ...options, path: '/v1/voices' }),
    models: (options) => request({ ...options, path: '/v1/models' }),
    speechToSpeech: (options) =>
      requestShown<SpeechToSpeech>({ ...options, path: '/v1/speech-to-speech' }, SPEECH_TO_SPEECH),
    request,
  };
}
