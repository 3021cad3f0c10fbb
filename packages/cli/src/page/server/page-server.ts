import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { sampleEvent } from 'service-webhooks/testing';
import { refusalOf } from '../../http/guard.js';
import type { PageSource } from '../page-source.js';
import { answerAction } from './actions.js';
import { type Assets, documentOf, ICON, readAssets, SECURITY_HEADERS } from './document.js';
import { type ExportForm, exportRequest, isExportForm } from './exported-request.js';
import { openStream } from './stream.js';

/** The page, to be mounted on a server that listens on the loopback interface. */
export interface Page {
  /** Answers requests for the page: `/` and all paths below `/page/`. Returns false for any other path. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /** Closes the open connections. */
  close(): void;
}

/** A command is at most four times as long, and is pasted. */
const MAX_COMMAND_BYTES = 1024 * 1024;
/** More than the windows of any user; each holds a connection. */
const MAX_STREAMS = 64;

export function createPage(source: PageSource, assets: Assets): Page {
  // The same during this run, so that a page of an earlier run is recognised.
  const token = crypto.randomUUID() + crypto.randomUUID();
  const run = crypto.randomUUID();
  const streams = new Set<() => void>();

  async function answer(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
    const refusal = refusalOf(req, token);
    if (refusal !== undefined) return sendJson(res, refusal.status, { error: refusal.reason });
    const action = /^\/page\/actions\/(\w+)$/.exec(path)?.[1];
    if (req.method !== (action === undefined ? 'GET' : 'POST')) {
      return sendJson(res, 405, { error: `${req.method} is not for ${path}` });
    }
    if (action !== undefined) return act(req, res, action);
    const [, room = '', id] = /^\/page\/(\w+)\/(.+)/.exec(path) ?? [];
    if (room === 'deliveries') return sendFound(res, source.delivery(decoded(id)));
    if (room === 'attempts') return sendFound(res, await source.attempt(decoded(id)));
    if (room === 'samples') return sendFound(res, sampleOf(decoded(id)));
    if (isExportForm(room)) return sendExported(res, room, decoded(id));
    if (path === '/page/stream') return stream(res);
    if (path === '/') return send(res, 'text/html; charset=utf-8', documentOf(source.title, token));
    if (path === '/page/page.js') return send(res, 'text/javascript; charset=utf-8', assets.script);
    if (path === '/page/style.css') return send(res, 'text/css; charset=utf-8', assets.style);
    if (path === '/page/icon.svg') {
      // A browser asks for it whenever the address of the page changes.
      res.setHeader('cache-control', 'max-age=86400');
      return send(res, 'image/svg+xml', ICON);
    }
    sendFound(res, undefined);
  }

  async function act(req: IncomingMessage, res: ServerResponse, name: string): Promise<void> {
    const answer = await answerAction(source, name, req);
    if (answer === undefined) sendFound(res, undefined);
    else sendJson(res, answer.status, answer.json);
  }

  function sendExported(res: ServerResponse, form: ExportForm, attemptId: string): void {
    const message = source.message(attemptId);
    if (message === undefined) {
      sendFound(res, undefined);
    } else if (form === 'curl' && message.body.length > MAX_COMMAND_BYTES) {
      sendJson(res, 413, { error: 'The body is too long for a command: download the request.' });
    } else {
      const { name, content } = exportRequest(form, attemptId, message);
      // As a file: what came over the network must not become a document of this origin.
      res.setHeader('content-disposition', `attachment; filename="${name}"`);
      send(res, 'application/octet-stream', content);
    }
  }

  function stream(res: ServerResponse): void {
    if (streams.size >= MAX_STREAMS) {
      sendJson(res, 503, { error: 'Too many windows are open.' });
      return;
    }
    const close = openStream(res, source, run);
    streams.add(close);
    res.on('close', () => streams.delete(close));
  }

  return {
    handle(req, res) {
      const path = (req.url ?? '').replace(/[?#].*/, '');
      if (path !== '/' && !path.startsWith('/page/')) return false;
      answer(req, res, path).catch(() => res.destroy());
      return true;
    },
    close() {
      for (const close of streams) close();
    },
  };
}

export interface ServedPage {
  url: string;
  close(): Promise<void>;
}

export interface ServePageOptions {
  /** The script and the style sheet. Default: those that were built. */
  assets?: Assets | undefined;
  /** Answers requests for other paths. Default: 404. */
  others?: RequestListener | undefined;
}

/** Serves the page on a port of the loopback interface; 0 for any. Rejects where the port is not available. */
export async function servePage(
  source: PageSource,
  port: number,
  { assets, others = (_, res) => res.writeHead(404).end() }: ServePageOptions = {},
): Promise<ServedPage> {
  const page = createPage(source, assets ?? (await readAssets()));
  const server = createServer((req, res) => {
    if (!page.handle(req, res)) others(req, res);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      page.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the sample of a type as JSON to edit, without what is new in each event. Undefined for an unknown type. */
export function sampleOf(name: string): { json: string } | undefined {
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === name);
  if (type === undefined) return undefined;
  const { id, timestamp, ...sample } = sampleEvent(type, { id: 'evt_sample' });
  return { json: JSON.stringify(sample, null, 2) };
}

function send(res: ServerResponse, type: string, body: string | Buffer): void {
  res.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

function sendJson(res: ServerResponse, status: number, value: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendFound(res: ServerResponse, found: object | undefined): void {
  if (found === undefined) sendJson(res, 404, { error: 'It is not kept any more, or never was.' });
  else sendJson(res, 200, found);
}

function decoded(id = ''): string {
  try {
    return decodeURIComponent(id);
  } catch {}
  return ''; // an id that no entry has
}
