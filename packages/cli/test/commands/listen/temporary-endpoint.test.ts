import type { Client } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { failureOfPromise } from '../../../../../test/support/failures.js';
import { createTemporaryEndpoint } from '../../../src/commands/listen/temporary-endpoint.js';

const URL_OF_IT = 'https://a.test/hook';
const endpoint = { url: URL_OF_IT, events: ['stt.completed'] } as never;
const registered = (id: string, url: string) => ({ id, url, events: ['stt.completed'] });

/** An account with endpoints, and what it was asked for. */
function anAccount(listed: object[], { answersWithId = true } = {}) {
  const asked: unknown[][] = [];
  const data = [...listed];
  const webhooks = {
    async list(options: object) {
      asked.push(['list', options]);
      return { data: { data: [...data] } };
    },
    async create({ url }: { url: string }) {
      asked.push(['create', url]);
      data.push(registered('wh_new', url));
      return { data: answersWithId ? registered('wh_new', url) : {}, signingSecret: { reveal: () => 'whsec_1' } };
    },
    async delete(...given: unknown[]) {
      asked.push(['delete', ...given]);
    },
  };
  return { asked, client: { webhooks } as unknown as Pick<Client, 'webhooks'> };
}

describe('the temporary endpoint of listen', () => {
  it('a new endpoint is deleted by its id, with a timeout of 10 s', async () => {
    const { asked, client } = anAccount([registered('wh_1', 'https://b.test/hook'), registered('wh_2', 'no URL')]);
    const made = await createTemporaryEndpoint(client, endpoint);
    expect([made.id, made.url, made.secret.reveal()]).toEqual(['wh_new', URL_OF_IT, 'whsec_1']);
    await made.remove();
    expect(asked).toEqual([
      ['list', {}],
      ['create', URL_OF_IT],
      ['delete', 'wh_new', { timeoutMs: 10_000 }],
    ]);
  });

  it('an existing endpoint with the same URL, in any spelling, is refused', async () => {
    const { asked, client } = anAccount([registered('wh_1', 'https://A.test:443/hook'), registered('wh_2', URL_OF_IT)]);
    expect(await failureOfPromise(createTemporaryEndpoint(client, endpoint))).toBe(
      '1: there is an endpoint with this URL already (wh_1, wh_2), perhaps of an earlier run that was killed. ' +
        `If nothing else needs it, delete it: npx service-webhooks-cli endpoints delete ${URL_OF_IT}`,
    );
    expect(asked).toEqual([['list', {}]]);
  });

  it('the error names the command that deletes one endpoint by its id', async () => {
    const { client } = anAccount([registered('wh_1', URL_OF_IT)]);
    const message = await failureOfPromise(createTemporaryEndpoint(client, endpoint));
    expect(message).toMatch(/delete it: npx service-webhooks-cli endpoints delete wh_1$/);
  });

  it('a URL with a query is quoted in the command of the error', async () => {
    const url = 'https://a.test/hook?a=1&b=2';
    const { client } = anAccount([registered('wh_1', url), registered('wh_2', url)]);
    const message = await failureOfPromise(createTemporaryEndpoint(client, { url, events: ['stt.completed'] }));
    expect(message).toContain(`endpoints delete "${url}"`);
  });

  it('a new endpoint without an id in the answer is found by its URL and deleted', async () => {
    const { asked, client } = anAccount([registered('wh_1', 'https://b.test/')], { answersWithId: false });
    const made = await createTemporaryEndpoint(client, endpoint);
    expect(made.id).toBeUndefined();
    await made.remove();
    expect(asked.slice(2)).toEqual([
      ['list', { timeoutMs: 10_000 }],
      ['delete', 'wh_new', { timeoutMs: 10_000 }],
    ]);
  });
});
