import { type Client, ClientError } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { failureOfPromise } from '../../../../../test/support/failures.js';
import { createTemporaryEndpoint } from '../../../src/commands/listen/temporary-endpoint.js';

const URL_OF_IT = 'https://a.test/hook';
const endpoint = { url: URL_OF_IT, events: ['stt.completed'] } as never;
const registered = (id: string, url: string) => ({ id, url, events: ['stt.completed'] });

/** An account with endpoints, and what it was asked for. */
function anAccount(listed: object[], { answersWithId = true, deletes = async () => {} } = {}) {
  const asked: unknown[][] = [];
  const data = [...listed];
  const webhooks = {
    async list(options: object) {
      asked.push(['list', options]);
      return { data: { data: [...data] } };
    },
    async create({ url }: { url: string }, ...more: unknown[]) {
      asked.push(['create', url, ...more]);
      data.push(registered('wh_new', url));
      return { data: answersWithId ? registered('wh_new', url) : {}, signingSecret: { reveal: () => 'whsec_1' } };
    },
    async delete(id: string, options?: object) {
      asked.push(options ? ['delete', id, options] : ['delete', id]);
      await deletes();
    },
  };
  return { asked, client: { webhooks } as unknown as Pick<Client, 'webhooks'> };
}

describe('a temporary endpoint', () => {
  it('a temporary endpoint is made where there is none with its URL, and deleted by its id in little time', async () => {
    const { asked, client } = anAccount([registered('wh_1', 'https://b.test/hook'), registered('wh_2', 'no URL')]);
    const made = await createTemporaryEndpoint(client, endpoint, false);
    expect({ id: made.id, url: made.url, secret: made.secret.reveal() }).toEqual({
      ...{ id: 'wh_new', url: URL_OF_IT, secret: 'whsec_1' },
    });
    await made.remove();
    expect(asked).toEqual([
      ['list', {}],
      ['create', URL_OF_IT],
      ['delete', 'wh_new', { timeoutMs: 10_000 }],
    ]);
  });

  it('a temporary endpoint is not made where there is one with its URL, however it is written', async () => {
    const { asked, client } = anAccount([registered('wh_1', 'https://A.test:443/hook'), registered('wh_2', URL_OF_IT)]);
    expect(await failureOfPromise(createTemporaryEndpoint(client, endpoint, false))).toBe(
      '1: there is an endpoint with this URL already (wh_1, wh_2): --cleanup deletes it.',
    );
    expect(asked).toEqual([['list', {}]]);
  });

  it('a temporary endpoint takes the place of those with its URL where that is wanted', async () => {
    const { asked, client } = anAccount([registered('wh_1', URL_OF_IT), registered('wh_2', 'https://b.test/')]);
    await createTemporaryEndpoint(client, endpoint, true);
    expect(asked.slice(1)).toEqual([
      ['delete', 'wh_1'],
      ['create', URL_OF_IT],
    ]);
  });

  it('a temporary endpoint is found by its URL and deleted where its id is not known', async () => {
    const { asked, client } = anAccount([registered('wh_1', 'https://b.test/')], { answersWithId: false });
    const made = await createTemporaryEndpoint(client, endpoint, false);
    expect(made.id).toBeUndefined();
    await made.remove();
    expect(asked.slice(2)).toEqual([
      ['list', { timeoutMs: 10_000 }],
      ['delete', 'wh_new', { timeoutMs: 10_000 }],
    ]);
  });

  it('a temporary endpoint is said to be there still where it cannot be deleted, and how to get rid of it', async () => {
    const { client } = anAccount([], {
      deletes: () => Promise.reject(new ClientError('timed_out', 'No answer.')),
    });
    const made = await createTemporaryEndpoint(client, endpoint, false);
    expect(await failureOfPromise(made.remove())).toBe(
      '4: the temporary endpoint is still there, since No answer. Raise timeoutMs, or ask for less. (timed_out) Next time: --cleanup.',
    );
  });
});
