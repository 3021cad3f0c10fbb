import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { sampleEvent } from 'service-webhooks/testing';
import { refusalOf } from '../../http/guard.js';
import type { JobsSource } from '../jobs-source.js';
import type { PageSource } from '../page-source.js';
import type { QueueSource } from '../queue-source.js';
import { answerAction } from './actions.js';
import { type Assets, documentOf, ICON, readAssets, SECURITY_HEADERS, type View } from './document.js';
import { type ExportForm, exportRequest, isExportForm } from './exported-request.js';
import { answerQueue } from './queue-routes.js';
import { search } from './search.js';
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
/** Searches at the same time; each reads everything that is kept. */
const MAX_SEARCHES = 4;
/** Longer than anything a person types. */
const MAX_QUERY_CHARACTERS = 1_000;

/** The views of a page next to that of deliveries. */
export interface OtherViews {
  queue?: QueueSource | undefined;
  jobs?: JobsSource | undefined;
}

/** Returns a page with a view of deliveries, and with others where there is something to see. */
export function createPage(source: PageSource | undefined, assets: Assets, { queue, jobs }: OtherViews = {}): Page {
  // The same during this run, so that a page of an earlier run is recognised.
  const token = crypto.randomUUID() + crypto.randomUUID();
  const run = crypto.randomUUID();
  const streams = new Set<() => void>();
  const sources = { deliveries: source, queue, jobs };
  const views = (['deliveries', 'queue', 'jobs'] as const).filter((view) => sources[view] !== undefined);
  let searches = 0;

  async function answer(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
    const refusal = refusalOf(req, token);
    if (refusal !== undefined) return sendJson(res, refusal.status, { error: refusal.reason });
    const isRead = req.method === 'GET';
    if (isRead && path === '/page/style.css') return send(res, 'text/css; charset=utf-8', assets.style);
    if (isRead && path === '/page/icon.svg') {
      // A browser asks for it whenever the address of the page changes.
      res.setHeader('cache-control', 'max-age=86400');
      return send(res, 'image/svg+xml', ICON);
    }
    if (isRead && path === '/page/queue-style.css' && (queue ?? jobs) !== undefined)
      return send(res, 'text/css; charset=utf-8', assets.queue?.style ?? '');
    if (jobs !== undefined && isOf('jobs', path)) return answerForJobs(jobs, req, res, path);
    const isOfQueue = isOf('queue', path) || (path === '/' && source === undefined);
    if (queue !== undefined && isOfQueue) return answerForQueue(queue, req, res, path);
    if (source !== undefined) return answerForDeliveries(source, req, res, path);
    sendFound(res, undefined);
  }

  async function answerForJobs(
    jobs: JobsSource,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
  ): Promise<void> {
    if (req.method !== 'GET') return sendJson(res, 405, { error: `${req.method} is not for ${path}` });
    if (path === '/page/jobs/state') return sendJson(res, 200, await jobs.state());
    if (path === '/page/jobs.js') return send(res, 'text/javascript; charset=utf-8', assets.jobs?.script ?? '');
    if (path !== '/page/jobs') return sendFound(res, undefined);
    send(res, 'text/html; charset=utf-8', documentOf({ title: jobs.title, token, view: 'jobs', views }));
  }

  async function answerForQueue(
    queue: QueueSource,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
  ): Promise<void> {
    if (path.startsWith('/page/queue/')) {
      const { status, json } = await answerQueue(queue, req);
      return sendJson(res, status, json);
    }
    if (req.method !== 'GET') return sendJson(res, 405, { error: `${req.method} is not for ${path}` });
    if (path === '/page/queue.js') return send(res, 'text/javascript; charset=utf-8', assets.queue?.script ?? '');
    if (path !== '/' && path !== '/page/queue') return sendFound(res, undefined);
    send(
      res,
      'text/html; charset=utf-8',
      documentOf({ title: queue.title, token, run: queue.run, view: 'queue', views }),
    );
  }

  async function answerForDeliveries(
    source: PageSource,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
  ): Promise<void> {
    const action = /^\/page\/actions\/(\w+)$/.exec(path)?.[1];
    if (req.method !== (action === undefined ? 'GET' : 'POST')) {
      return sendJson(res, 405, { error: `${req.method} is not for ${path}` });
    }
    if (action !== undefined) return act(source, req, res, action);
    const [, room = '', id] = /^\/page\/(\w+)\/(.+)/.exec(path) ?? [];
    if (room === 'deliveries') return sendFound(res, source.delivery(decoded(id)));
    if (room === 'attempts') return sendFound(res, await source.attempt(decoded(id)));
    if (room === 'samples') return sendFound(res, sampleOf(decoded(id)));
    if (room === 'search') return find(source, res, decoded(id));
    if (isExportForm(room)) return sendExported(source, res, room, decoded(id));
    if (path === '/page/stream') return stream(source, res);
    if (path === '/')
      return send(
        res,
        'text/html; charset=utf-8',
        documentOf({ title: source.title, token, view: 'deliveries', views }),
      );
    if (path === '/page/page.js') return send(res, 'text/javascript; charset=utf-8', assets.script);
    sendFound(res, undefined);
  }

  async function act(source: PageSource, req: IncomingMessage, res: ServerResponse, name: string): Promise<void> {
    const answer = await answerAction(source, name, req);
    if (answer === undefined) sendFound(res, undefined);
    else sendJson(res, answer.status, answer.json);
  }

  async function find(source: PageSource, res: ServerResponse, query: string): Promise<void> {
    if (query.length > MAX_QUERY_CHARACTERS) return sendJson(res, 414, { error: 'The search is too long.' });
    if (searches >= MAX_SEARCHES) return sendJson(res, 503, { error: 'Too many searches are running.' });
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    searches += 1;
    try {
      sendJson(res, 200, { ids: await search(source, query, gone.signal) });
    } finally {
      searches -= 1;
    }
  }

  function sendExported(source: PageSource, res: ServerResponse, form: ExportForm, attemptId: string): void {
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

  function stream(source: PageSource, res: ServerResponse): void {
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

export interface ServePageOptions extends OtherViews {
  /** The script and the style sheet. Default: those that were built. */
  assets?: Assets | undefined;
  /** Answers requests for other paths. Default: 404. */
  others?: RequestListener | undefined;
}

/** Serves the page on a port of the loopback interface; 0 for any. Rejects where the port is not available. */
export async function servePage(
  source: PageSource | undefined,
  port: number,
  { assets, others = (_, res) => res.writeHead(404).end(), ...views }: ServePageOptions = {},
): Promise<ServedPage> {
  const page = createPage(source, assets ?? (await readAssets()), views);
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

/** Whether a path is of a view other than that of deliveries. */
function isOf(view: View, path: string): boolean {
  return new RegExp(`^/page/${view}([/.-]|$)`).test(path);
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
