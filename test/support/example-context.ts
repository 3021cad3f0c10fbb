/**
 * What the examples of docstrings leave to their reader, as declarations: `secret` is the secret of the reader, `app` an
 * app of the framework that the module is for.
 */
export const EVERYWHERE = `
  import type { Handlers, Receiver, WebhookEvent } from 'service-webhooks';
  import type { Client } from 'service-webhooks/client';
  import type { DedupeStore, DeliveryQueue } from 'service-webhooks';
  import type { FetchJob, Jobs } from 'service-webhooks/jobs';
  import type { SignedDelivery } from 'service-webhooks/testing';
  import type { AdapterSuiteOptions, QueueSuiteOptions, StoreSuiteOptions } from 'service-webhooks-suites';

  declare global {
    const secret: string, apiKey: string, url: string, id: string, text: string, message: string;
    const headers: Headers, body: Uint8Array<ArrayBuffer>, rawBody: Uint8Array, req: import('node:http').IncomingMessage, request: Request;
    const event: WebhookEvent, delivery: SignedDelivery, error: unknown, job: unknown;
    const on: Handlers, receiver: Receiver, client: Client, queue: DeliveryQueue, store: DedupeStore;
    const jobs: Jobs, jobId: string, askService: FetchJob;
    const boss: import('pg-boss');
    const z: typeof import('zod');
    const schemas: { 'stt.completed': import('zod').ZodObject<{ text: import('zod').ZodString }> };
    const mailer: { send(message: string, options: { idempotencyKey: string }): Promise<void> };
    const context: import('service-webhooks').HandlerContext;
    const vault: { write(name: string, value: string): Promise<void> };
    const notices: { inc(labels: object): void }, requests: { inc(labels: object): void };
    const serve: AdapterSuiteOptions['serve'];
    const makeStore: StoreSuiteOptions['make'];
    const makeQueue: QueueSuiteOptions['make'];
    function waitUntil(work: Promise<unknown>): void;
    function save(value: unknown): Promise<void>;
    function exists(id: string): Promise<boolean>;
    function download(link: string): Promise<void>;
  }
`;

const EXPRESS =
  "import express from 'express'; import { webhookHandler } from 'service-webhooks/express'; const app = express();";
const CONNECT = `import type { IncomingMessage, ServerResponse } from 'node:http';
  declare const app: { use(path: string, ...handlers: ((req: IncomingMessage, res: ServerResponse, next: () => void) => unknown)[]): void };`;

/** A database and a table of Drizzle, which is not installed here. */
const drizzleOf = (store: string) => `
    type Db = import('service-webhooks/stores/${store}').DrizzleClient;
    declare const clips: object;
    declare const db: Db & { transaction<T>(run: (tx: Db & { insert(table: object): { values(row: object): void } }) => T): T };`;

/** What stands above the examples of one module: the imports of its framework, and an app. */
export const BY_MODULE: Readonly<Record<string, string>> = {
  'service-webhooks-suites': `import type { Delivery } from 'service-webhooks';
    import { createReceiver } from 'service-webhooks';
    import type { World } from 'service-webhooks-suites';
    declare const saved: Set<string>; declare const req: { webhook?: Delivery };
    declare const { work, service }: Pick<World, 'work' | 'service'>;`,
  'service-webhooks/azure-functions': "import { app } from '@azure/functions';",
  'service-webhooks/elysia': "import { Elysia } from 'elysia'; const app = new Elysia();",
  'service-webhooks/express': "import express from 'express'; const app = express();",
  'service-webhooks/fastify': "import fastify from 'fastify'; const app = fastify();",
  'service-webhooks/google-cloud-functions': "import { http } from '@google-cloud/functions-framework';",
  'service-webhooks/h3': "import { defineEventHandler } from 'h3';",
  'service-webhooks/hono': "import { Hono } from 'hono'; const app = new Hono();",
  'service-webhooks/koa': `import type { Middleware } from 'koa';
    declare const router: { post(path: string, ...middleware: Middleware[]): void };`,
  'service-webhooks/nest': `import { Controller, Get, Inject, Module, Post, Req, Res, UseInterceptors } from '@nestjs/common';
    declare class ConfigModule {} declare class ConfigService { getOrThrow<T = any>(name: string): T }
    declare class ClipsModule {} declare class ClipsService { save(clip: object): Promise<void> }`,
  'service-webhooks/node': `import { createServer } from 'node:http'; ${CONNECT}`,
  'service-webhooks/client': "import { writeFile } from 'node:fs/promises';",
  'service-webhooks/otel': `${EXPRESS} import { createJobs } from 'service-webhooks/jobs'; import { Queue, Worker } from 'bullmq'; const connection = {};`,
  'service-webhooks/queue': 'declare function send(job: object): Promise<"queued" | "known">;',
  'service-webhooks/queue/bullmq': `${EXPRESS} import { Queue, Worker } from 'bullmq'; const connection = {};`,
  'service-webhooks/queue/graphile-worker': `${EXPRESS} import { run } from 'graphile-worker'; import pg from 'pg';
    const pool = new pg.Pool();`,
  'service-webhooks/queue/pg-boss': `${EXPRESS} import PgBoss from 'pg-boss';`,
  'service-webhooks/queue/rabbitmq': `${EXPRESS} import amqp from 'amqplib';`,
  'service-webhooks/queue/nats': `${EXPRESS} import { jetstream } from '@nats-io/jetstream'; import { connect } from '@nats-io/transport-node'; declare const servers: string;`,
  'service-webhooks/queue/cloudflare': `import { createReceiver } from 'service-webhooks'; import { d1Store, type D1Database } from 'service-webhooks/stores/d1'; import type { CloudflareBatch, CloudflareQueueBinding } from 'service-webhooks/queue/cloudflare'; declare const env: Env; interface Env { DB: D1Database; QUEUE: CloudflareQueueBinding; DEAD: CloudflareQueueBinding }`,
  'service-webhooks/queue/overflow': `import { Queue } from 'bullmq'; import pg from 'pg'; const connection = {};
    import { type CloudflareQueueBinding, cloudflareQueue } from 'service-webhooks/queue/cloudflare';
    import { type R2Bucket } from 'service-webhooks/queue/overflow'; import { sqliteQueue } from 'service-webhooks/queue/sqlite';
    declare const env: { QUEUE: CloudflareQueueBinding; BUCKET: R2Bucket }; const pool = new pg.Pool();
    declare const db: import('service-webhooks/stores/sqlite').SqliteDatabase, bodies: typeof db;`,
  'service-webhooks/queue/sqlite': `${EXPRESS}
    declare const DatabaseSync: new (path: string) => import('service-webhooks/stores/sqlite').SqliteDatabase;`,
  'service-webhooks/stores/d1': "declare const env: { DB: import('@cloudflare/workers-types').D1Database };",
  'service-webhooks/stores/durable-object':
    "declare const env: { DEDUPE: import('@cloudflare/workers-types').DurableObjectNamespace };",
  'service-webhooks/stores/dynamodb': `import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
    declare const client: DynamoDBClient;`,
  'service-webhooks/stores/mysql': `import { createPool, type Pool } from 'mysql2/promise';
    declare const pool: Pool;
    ${drizzleOf('mysql')}`,
  'service-webhooks/stores/postgres': `import { Pool } from 'pg';
    declare const pool: Pool;
    ${drizzleOf('postgres')}`,
  'service-webhooks/stores/redis': "import { Redis } from 'ioredis';",
  'service-webhooks/stores/sqlite': `
    declare const db: import('service-webhooks/stores/sqlite').SqliteDatabase;
    declare const Database: new (path: string) => import('service-webhooks/stores/sqlite').SqliteDatabase;
    declare const insertClip: { run(id: string): void };`,
  'service-webhooks/testing': `import { readFile } from 'node:fs/promises';
    import { expect } from 'expect'; import request from 'supertest'; import 'service-webhooks/testing/matchers';
    declare const app: import('fastify').FastifyInstance, server: import('node:http').Server;
    declare function POST(request: Request): Promise<Response>;
    declare function handler(event: object): Promise<{ statusCode: number }>;`,
  'service-webhooks/testing/matchers': "import { expect } from 'expect';",
};
