import express5 from 'express';
import express4 from 'express4';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';
import { signDelivery, toSupertest } from 'service-webhooks/testing';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { mounts } from './mounts/express.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('the receiver on %s, mounted below a body parser', (_, express) => {
  const secret = 'test secret';

  async function logged(mount: (app: express5.Express) => void) {
    const error = vi.fn<(message: string) => void>();
    const receiver = createReceiver({ secret, on: { '*': () => {} }, logger: { error, warn() {} } });
    const app = express();
    mount(app);
    app.post('/webhooks', webhookHandler(receiver));
    const delivery = signDelivery({ body: '{}', secret });
    await supertest(app).post('/webhooks').use(toSupertest(delivery)).expect(500);
    return error.mock.calls[0]?.[0];
  }

  it('the log names the parser', async () => {
    expect(await logged((app) => app.use(express.json()))).toMatch(
      /^service-webhooks: A body parser ran first.+ This app has express\.json\(\)\. Mount the receiver above .+ \(body_already_parsed\)$/,
    );
  });

  it('the log names every parser of the app that may have read the body', async () => {
    const both = (app: express5.Express) => app.use(express.urlencoded({ extended: false })).use(express.json());
    expect(await logged(both)).toContain('This app has express.urlencoded(), express.json(). Mount');
  });

  it('the log names no parser where other code has read the body', async () => {
    const custom = (app: express5.Express) =>
      app.use(async (req, _res, next) => {
        for await (const _chunk of req);
        next();
      });
    expect(await logged(custom)).toMatch(/ Mount the receiver above .+ \(body_already_read\)$/);
    expect(await logged(custom)).not.toContain('This app has');
  });
});
