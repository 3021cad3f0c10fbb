import { expect } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import {
  createReceiver,
  type DedupeStore,
  type HandlerOf,
  type UnknownEvent,
  type WebhookEvent,
} from 'service-webhooks';
import { webhookHandler as lambdaHandler } from 'service-webhooks/aws-lambda';
import { webhookHandler as expressHandler, webhookMiddleware as expressMiddleware } from 'service-webhooks/express';
import { webhookHandler as fastifyHandler } from 'service-webhooks/fastify';
import { webhookHandler as fetchHandler } from 'service-webhooks/fetch';
import { webhookHandler as honoHandler, webhookMiddleware as honoMiddleware } from 'service-webhooks/hono';
import { webhookMiddleware as koaMiddleware } from 'service-webhooks/koa';
import { postgresStore } from 'service-webhooks/stores/postgres';
import { redisStore } from 'service-webhooks/stores/redis';
import { sqliteStore } from 'service-webhooks/stores/sqlite';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { matchers } from 'service-webhooks/testing/matchers';

// Every adapter in the types of its framework, every store in those of the receiver: compiled, and never run.
const clipOf = (event: WebhookEvent): string | undefined =>
  event.type === 'generation.completed' ? event.data.clipId : undefined;
const onClip: HandlerOf<'generation.completed'> = ({ data }) => console.log(data.clipId.length);
export const typeOf = (event: UnknownEvent): string => event.type;

type Clients = [
  Parameters<typeof postgresStore>[0],
  Parameters<typeof redisStore>[0],
  Parameters<typeof sqliteStore>[0],
];

export function mount(secret: string, [postgres, redis, sqlite]: Clients) {
  const stores: DedupeStore[] = [postgresStore(postgres), redisStore(redis), sqliteStore(sqlite)];
  const receivers = stores.map((store) =>
    createReceiver({
      secret,
      dedupe: { store, name: 'clips' },
      on: { 'generation.completed': onClip, '*': (event) => void clipOf(event) },
    }),
  );

  const app = express();
  app.post('/handler', expressHandler({ secret, on: {} }));
  app.post('/middleware', expressMiddleware({ secret }), (req, res) => {
    res.json({ type: req.webhook?.event.type.length });
  });

  const hono = new Hono();
  hono.post('/handler', honoHandler({ secret, on: {} }));
  hono.post('/middleware', honoMiddleware({ secret }), (c) => c.text(c.var.webhook.event.type));

  const koa = new Koa();
  koa.use(koaMiddleware({ secret }));

  const server = fastify();
  server.register(fastifyHandler({ secret, on: {} }));

  const worker: { fetch(request: Request): Promise<Response> } = { fetch: fetchHandler({ secret, on: {} }) };
  return { receivers, app, hono, koa, server, worker, lambda: lambdaHandler({ secret, on: {} }) };
}

export async function testWithJest(secret: string) {
  expect.extend(matchers);
  const receiver = createReceiver({ secret });
  const delivery = signDelivery({ event: sampleEvent('stt.completed'), secret });
  await expect(receiver(delivery)).toAcknowledge();
  await expect(receiver(delivery)).not.toRefuseWith('timestamp_too_old');
}
