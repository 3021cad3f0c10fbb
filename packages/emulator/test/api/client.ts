import { createEmulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { onTestFinished } from 'vitest';

export const WEBHOOKS = '/api/v1/account/webhooks';
export const LIMITS = '/api/v1/account/api-limits';
export const USAGE = '/api/v1/usage';

/** The settings of an endpoint that the API accepts. */
export const SETTINGS = { url: 'https://app.example/hooks', events: ['stt.completed'] };

export interface Call {
  method?: string;
  /** The key to send. Default: the first key of the emulator; null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** A body that is sent as JSON; text is sent as it is. */
  json?: unknown;
  body?: NonNullable<RequestInit['body']>;
}

/** An emulator that lives as long as the test, and a client of its API. */
export function startApi(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ startAt: Date.UTC(2026, 6, 11, 9), seed: 'api', ...options });
  onTestFinished(() => emulator.close());

  async function call(path: string, { key = emulator.apiKey, json, ...init }: Call = {}) {
    const headers = {
      ...(key !== null && { 'x-api-key': key }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...init.headers,
    };
    const body = json === undefined || typeof json === 'string' ? json : JSON.stringify(json);
    const request = new Request(`http://api.test${path}`, { ...(body !== undefined && { body }), ...init, headers });
    const answer = await emulator.fetch(request);
    const text = await answer.text();
    const answered: Record<string, string | undefined> = Object.fromEntries(answer.headers);
    const isJson = text !== '' && answered['content-type'] === 'application/json';
    const content = isJson ? JSON.parse(text) : undefined;
    return {
      status: answer.status,
      headers: answered,
      text,
      body: content,
      error: content?.error,
      code: content?.error?.code,
    };
  }
  return { emulator, call };
}
