import { calledMounts as awsLambda } from './aws-lambda.js';
import { calledMounts as azureFunctions } from './azure-functions.js';
import { calledMounts as elysia } from './elysia.js';
import * as express from './express.js';
import * as fastify from './fastify.js';
import * as fetch from './fetch.js';
import * as googleCloudFunctions from './google-cloud-functions.js';
import * as h3 from './h3.js';
import * as hono from './hono.js';
import * as koa from './koa.js';
import * as nest from './nest.js';
import * as next from './next-routes.js';
import * as node from './node.js';

/** The adapters that their platform calls, in every version of it and in both forms. */
export const CALLED = {
  'aws-lambda': awsLambda,
  'azure-functions': azureFunctions,
  elysia,
  fetch: fetch.calledMounts,
  h3: h3.calledMounts,
  hono: hono.calledMounts,
  next: next.calledMounts,
};

/** Those whose app listens on a port. */
export const LISTENING = {
  express: express.mounts,
  fastify: fastify.mounts,
  fetch: fetch.mounts,
  'google-cloud-functions': googleCloudFunctions.mounts,
  h3: h3.mounts,
  hono: hono.mounts,
  koa: koa.mounts,
  nest: nest.mounts,
  'next-pages': next.mounts,
  node: node.mounts,
};
