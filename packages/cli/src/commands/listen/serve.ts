import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isWebhookError, type WebhookResponse } from 'service-webhooks';
import { drainBody } from '../../http/drain-body.js';
import { hostOf } from '../../http/guard.js';
import { headerPairs } from '../../http/http-message.js';
import { listening } from '../../listening.js';
import type { Session } from '../../session.js';
import { withPathOf } from '../../target.js';
import { plain } from './answer.js';
import { createForeignRequests } from './foreign-requests.js';
import { createRequestHandler, type Handled } from './handle-request.js';
import { isRefused } from './inspection.js';
import type { ListenOptions } from './options.js';
import type { IncomingRequest } from './read-message.js';
import type { Received } from './received-log.js';
import { createAppAdvice, createExplainer, type Refusal, report } from './report.js';

/** How long running requests may continue after Ctrl+C. */
const GRACE_MS = 2_000;
/** Each connection holds its headers; their bodies have limits of their own. */
const MAX_CONNECTIONS = 256;

export interface Serving {
  url: string;
  /** Accepts no more requests, and ends the running ones. Resolves to the number of deliveries. */
  stop(): Promise<number>;
}

export interface ServeOptions {
  host: string;
  port: number;
  /** The names under which a tunnel sends requests, in lower case. */
  allowedHosts?: readonly string[];
  /** Is called with every delivery. */
  received(received: Received): void;
}

/** @throws Failure where the port is not available */
export async function serve(
  session: Session,
  options: ListenOptions,
  { host, port, allowedHosts = [], received }: ServeOptions,
): Promise<Serving> {
  const cut = new AbortController();
  setMaxListeners(0, cut.signal);
  const pending = new Set<Promise<void>>();
  const handleRequest = createRequestHandler(options);
  const explain = createExplainer(options);
  const adviceOn = createAppAdvice(options, cut.signal);
  const own = { names: [hostOf(host).toLowerCase()], tunnels: allowedHosts };
  const foreign = createForeignRequests({ own, out: session.out, now: options.now });
  let count = 0;
  let url = '';

  /** Resolves to why a delivery was refused. A forgery has causes of its own, and the app is right to refuse it. */
  const refusalOf = async (handled: Handled, at: number): Promise<Refusal> => {
    if (handled.kind !== 'delivery') return {};
    const { forwarded, inspection, message } = handled;
    if (isRefused(inspection)) return { cause: explain(message) };
    return { advice: forwarded && (await adviceOn(forwarded, message, at)) };
  };
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const begun = performance.now();
    const request = requestOf(req, res, options.now());
    const { at, path } = request;
    const handled = await handleRequest(request, cut.signal);
    send(res, handled.response);
    if (handled.kind === 'ignored' || (handled.kind === 'problem' && cut.signal.aborted)) return;
    count += 1;
    const ms = Math.round(performance.now() - begun);
    const refusal = await refusalOf(handled, at);
    report(session.out, handled, { at, ms, path }, refusal);
    received(toReceived(handled, request, { ms, ownUrl: withPathOf(new URL(url), path).href, ...refusal }));
  };
  /** A fault in one request must not end the others. */
  const fail = (req: IncomingMessage, res: ServerResponse, problem: unknown) => {
    const response = plain(502, 'not_answered');
    if (res.headersSent) res.destroy();
    else send(res, response);
    const arrived = { at: options.now(), ms: 0, path: req.url ?? '/' };
    report(session.out, { kind: 'problem', response, problem }, arrived, {});
  };
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (req, res) => {
    const refusal = foreign.refuse(req);
    if (refusal) {
      drainBody(req);
      return send(res, refusal);
    }
    const handling: Promise<void> = handle(req, res)
      .catch((problem) => fail(req, res, problem))
      .finally(() => pending.delete(handling));
    pending.add(handling);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listening(server, host, port);
  url = `http://${hostOf(host)}:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    async stop() {
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => cut.abort(), GRACE_MS);
      await Promise.allSettled(pending);
      clearTimeout(timer);
      server.closeAllConnections();
      return count;
    },
  };
}

function requestOf(req: IncomingMessage, res: ServerResponse, at: number): IncomingRequest {
  const { method = '', url: path = '/', rawHeaders } = req;
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  return { method, path, at, headers: headerPairs(rawHeaders), body: req, signal: gone.signal };
}

/** Returns a request and its answer as the page shows them. A request whose body was not read has only its headers. */
function toReceived(
  handled: Exclude<Handled, { kind: 'ignored' }>,
  { method, path, headers, at }: IncomingRequest,
  { ms, ownUrl, cause, advice }: { ms: number; ownUrl: string } & Refusal,
): Received {
  const { response } = handled;
  const times = { at, endedAt: at + ms };
  if (handled.kind === 'problem') {
    const verdict = isWebhookError(handled.problem) ? handled.problem.code : 'not_received';
    const message = { method, path, headers, body: new Uint8Array() };
    return { ...times, url: ownUrl, message, inspection: { verdict, bytes: 0 }, response };
  }
  const { message, inspection, forwarded } = handled;
  const [url, problem] = [forwarded?.url ?? ownUrl, forwarded?.sent.problem];
  return {
    ...times,
    url,
    message,
    inspection,
    response,
    problem,
    advice,
    cause,
  };
}

function send(res: ServerResponse, { status, headers, body }: WebhookResponse): void {
  if (res.destroyed) return;
  const length = status === 204 || status === 304 ? {} : { 'content-length': Buffer.byteLength(body) };
  res.writeHead(status, { ...headers, ...length }).end(body);
}
