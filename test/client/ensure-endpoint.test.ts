import { inspect } from 'node:util';
import { ensureEndpoint } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { ENDPOINT, failureOf, SETTINGS, SIGNING_SECRET, sentTo, useApi } from './clients.js';
import { breakOff, hangUp, json, refusal, text } from './serve-api.js';

const api = useApi();

const { url, events } = SETTINGS;

describe('ensureEndpoint', () => {
  const ensure = () => ensureEndpoint(SETTINGS, api.client);

  it('a missing endpoint is created, and the secret is returned', async () => {
    api.replies.push(
      json({ webhooks: [{ ...ENDPOINT, url: `${url}/other` }] }),
      json({ ...ENDPOINT, signing_secret: SIGNING_SECRET }),
    );
    const ensured = await ensure();
    expect(ensured).toMatchObject({ action: 'created', id: 'we_1' });
    expect(ensured.signingSecret?.reveal()).toBe(SIGNING_SECRET);
    expect(inspect(ensured)).not.toContain(SIGNING_SECRET);
    expect(sentTo(api)).toEqual([
      ['GET', ''],
      ['POST', SETTINGS],
    ]);
  });

  it('unreadable URLs and an empty list do not prevent the creation', async () => {
    api.replies.push(
      json([{ ...ENDPOINT, url: 'hooks' }]),
      json({ signing_secret: SIGNING_SECRET }),
      text('', 204),
      json({ signing_secret: SIGNING_SECRET }),
    );
    for (const ensured of [await ensure(), await ensure()]) {
      expect(ensured).toMatchObject({ action: 'created', id: undefined });
      expect(ensured.signingSecret?.reveal()).toBe(SIGNING_SECRET);
    }
  });

  it('a correct endpoint is left unchanged', async () => {
    api.replies.push(
      json({ webhooks: [{ ...ENDPOINT, url: 'https://APP.example:443/hooks', events: events.toReversed() }] }),
    );
    expect(await ensure()).toEqual({ action: 'unchanged', id: 'we_1', others: [] });
    expect(sentTo(api)).toEqual([['GET', '']]);
  });

  it.each([[['stt.completed']], [[...events, 'dubbing.failed']], [[]]])(
    'other events than asked for are updated: %j',
    async (had) => {
      api.replies.push(
        json([
          { ...ENDPOINT, events: had },
          { ...ENDPOINT, id: 'we_2' },
        ]),
      );
      expect(await ensure()).toEqual({ action: 'updated', id: 'we_1', others: ['we_2'] });
      expect(sentTo(api)[1]).toEqual(['PATCH', { events }]);
    },
  );

  it.each([{ targets: [{ key: 'we_1', href: url }] }, { targets: { [url]: 'we_1' } }, url])(
    'a list in an unknown layout that mentions the URL is an error: %j',
    async (data) => {
      api.replies.push(json(data));
      expect(await failureOf(ensure())).toMatchObject({
        code: 'unexpected_answer',
        message: expect.stringContaining(`The list of endpoints mentions ${url} but has no endpoint with it. `),
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
    const made = ensureEndpoint(SETTINGS, api.client, { signal: controller.signal });
    expect(await failureOf(made)).toMatchObject({ name: 'AbortError' });
  });

  it('an error of the service is passed on', async () => {
    api.replies.push(json([]), refusal('sandbox_unsupported_route', 400));
    expect(await failureOf(ensure())).toMatchObject({ code: 'sandbox_unsupported_route' });
  });

  it.each([undefined, {}, { url: 'hooks', events }, { url }, { url, events: [] }])(
    'invalid settings are refused before anything is sent: %j',
    async (given) => {
      expect(await failureOf(ensureEndpoint(given as never, api.client))).toMatchObject({
        code: 'invalid_option',
      });
      expect(api.seen).toEqual([]);
    },
  );

  it('an unknown option is refused before anything is sent', async () => {
    const options = { timeoutMS: 1 };
    const call = ensureEndpoint(SETTINGS, api.client, options as never);
    expect((await failureOf(call)).message).toContain("Did you mean 'timeoutMs'?");
    expect(api.seen).toEqual([]);
  });
});
