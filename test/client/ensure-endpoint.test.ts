import { inspect } from 'node:util';
import { ensureEndpoint } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { clientOf, failureOf } from './clients.js';
import { breakOff, hangUp, json, refusal, text, useApi } from './serve-api.js';

const api = useApi();

const SECRET = 'whsec_dont_log_me';
const URL_A = 'https://app.example/hooks';
const events = ['stt.completed', 'stt.failed'];
const endpoint = { id: 'we_1', url: URL_A, events };
const sent = () => api.seen.map(({ method, body }) => [method, body && JSON.parse(body)]);

describe('ensureEndpoint', () => {
  const ensure = () => ensureEndpoint({ url: URL_A, events }, clientOf(api.url).client);

  it('a missing endpoint is created, and the secret is returned', async () => {
    api.replies.push(
      json({ webhooks: [{ ...endpoint, url: `${URL_A}/other` }] }),
      json({ ...endpoint, signing_secret: SECRET }),
    );
    const ensured = await ensure();
    expect(ensured).toMatchObject({ action: 'created', id: 'we_1' });
    expect(ensured.signingSecret?.reveal()).toBe(SECRET);
    expect(inspect(ensured)).not.toContain(SECRET);
    expect(sent()).toEqual([
      ['GET', ''],
      ['POST', { url: URL_A, events }],
    ]);
  });

  it('unreadable URLs and an empty list do not prevent the creation', async () => {
    api.replies.push(
      json([{ ...endpoint, url: 'hooks' }]),
      json({ signing_secret: SECRET }),
      text('', 204),
      json({ signing_secret: SECRET }),
    );
    for (const ensured of [await ensure(), await ensure()]) {
      expect(ensured).toMatchObject({ action: 'created', id: undefined });
      expect(ensured.signingSecret?.reveal()).toBe(SECRET);
    }
  });

  it('a correct endpoint is left unchanged', async () => {
    api.replies.push(
      json({ webhooks: [{ ...endpoint, url: 'https://APP.example:443/hooks', events: events.toReversed() }] }),
    );
    expect(await ensure()).toEqual({ action: 'unchanged', id: 'we_1', others: [] });
    expect(sent()).toEqual([['GET', '']]);
  });

  it.each([[['stt.completed']], [[...events, 'dubbing.failed']], [[]]])(
    'other events than asked for are updated: %j',
    async (had) => {
      api.replies.push(
        json([
          { ...endpoint, events: had },
          { ...endpoint, id: 'we_2' },
        ]),
      );
      expect(await ensure()).toEqual({ action: 'updated', id: 'we_1', others: ['we_2'] });
      expect(sent()[1]).toEqual(['PATCH', { events }]);
    },
  );

  it.each([{ targets: [{ key: 'we_1', href: URL_A }] }, { targets: { [URL_A]: 'we_1' } }, URL_A])(
    'a list in an unknown layout that mentions the URL is an error: %j',
    async (data) => {
      api.replies.push(json(data));
      expect(await failureOf(ensure())).toMatchObject({
        code: 'unexpected_answer',
        message: expect.stringContaining(`The list of endpoints mentions ${URL_A} but has no endpoint with it. `),
      });
      expect(api.seen).toHaveLength(1);
    },
  );

  it.each([
    ['is cut off', breakOff],
    ['is an error', refusal('internal_error', 500)],
    ['does not arrive', hangUp],
  ])('the outcome is unknown where the answer to the creation %s', async (_, reply) => {
    api.replies.push(json([]), reply);
    expect(await failureOf(ensure())).toMatchObject({
      code: 'outcome_unknown',
      hint: expect.stringContaining('delete it'),
      cause: expect.objectContaining({ attempts: 1 }),
    });
    expect(api.seen).toHaveLength(2);
  });

  it('an aborted signal rejects the call', async () => {
    const controller = new AbortController();
    api.replies.push(json([]), () => controller.abort());
    const { client } = clientOf(api.url);
    const made = ensureEndpoint({ url: URL_A, events }, client, { signal: controller.signal });
    expect(await failureOf(made)).toMatchObject({ name: 'AbortError' });
  });

  it('an error of the service is passed on', async () => {
    api.replies.push(json([]), refusal('sandbox_unsupported_route', 400));
    expect(await failureOf(ensure())).toMatchObject({ code: 'sandbox_unsupported_route' });
  });

  it.each([undefined, {}, { url: 'hooks', events }, { url: URL_A }, { url: URL_A, events: [] }])(
    'invalid settings are refused before anything is sent: %j',
    async (given) => {
      expect(await failureOf(ensureEndpoint(given as never, clientOf(api.url).client))).toMatchObject({
        code: 'invalid_option',
      });
      expect(api.seen).toEqual([]);
    },
  );

  it('an unknown option is refused before anything is sent', async () => {
    const options = { timeoutMS: 1 };
    const call = ensureEndpoint({ url: URL_A, events }, clientOf(api.url).client, options as never);
    expect((await failureOf(call)).message).toContain("Did you mean 'timeoutMs'?");
    expect(api.seen).toEqual([]);
  });
});
