import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { type Attempt, createEmulator, type Emulator, type Faults } from 'service-webhooks-emulator';
import type { Advice } from '../../diagnosis/advice.js';
import { drainBody } from '../../http/drain-body.js';
import { foreignRefusal } from '../../http/guard.js';
import { headerPairs } from '../../http/http-message.js';
import { portFailure } from '../../listening.js';
import { emulatorSource } from '../../page/emulator/emulator-source.js';
import type { PageSource } from '../../page/page-source.js';
import { type OtherViews, type ServedPage, type ServePageOptions, servePage } from '../../page/server/page-server.js';
import { createAttemptAdvice } from './attempt-advice.js';
import { type Api, DEV_KEY, DEV_PORT, takingEvents } from './dev-events.js';
import { type LostReports, watchLost } from './lost-webhooks.js';

/** The views of the queue and the jobs of a project stay open when `dev` ends. */
export interface DevOptions extends OtherViews {
  /** Where the app takes deliveries; without one, endpoints come through the API. */
  app: URL | undefined;
  /** What deliveries to the app are signed with. */
  signingSecret: string | undefined;
  /** The event types that the app gets; all. */
  events?: readonly string[] | undefined;
  speed?: number | undefined;
  faults?: Faults | undefined;
  seed?: string | undefined;
  headerPrefix: string;
  port: number;
  /** What is said of webhooks that never come. Default: nothing. */
  reports?: LostReports | undefined;
}

const NO_REPORTS: LostReports = { lost() {}, asked() {} };

/** The service on this machine, with its API and its page on one port. */
export interface Dev {
  readonly url: string;
  readonly emulator: Emulator;
  readonly source: PageSource;
  readonly secrets: IssuedSecrets;
  /** Resolves to why the app did not acknowledge an attempt. Never rejects. */
  adviceOn(attempt: Attempt): Promise<Advice | undefined>;
  /** Id of the endpoint that delivers to the app. */
  readonly endpoint: string | undefined;
  close(): Promise<void>;
}

/** @throws Failure where the port cannot be had, WebhookError `invalid_option` */
export async function startDev(options: DevOptions): Promise<Dev> {
  const { app, signingSecret, events, port, queue, jobs, reports = NO_REPORTS, ...given } = options;
  const settings = { clock: 'real', ...given } as const;
  const lost = watchLost(createEmulator({ ...settings, apiKey: DEV_KEY, allowLoopback: true }), reports);
  const { emulator } = lost;
  const endpoint = app && emulator.endpoints.create({ url: app.href, events, signingSecret });
  const secrets = createIssuedSecrets();
  if (endpoint && signingSecret) secrets.set(endpoint.id, signingSecret);
  const stop = new AbortController();
  const { headerPrefix } = given;
  const adviceOn = createAttemptAdvice({ secretOf: secrets.of, headerPrefix, signal: stop.signal });
  const command = () => firstCommand(app, new URL(server.url).port);
  const { wasAsked } = lost;
  const source = emulatorSource({ ...settings, emulator, secretOf: secrets.of, adviceOn, command, wasAsked });
  const api = takingEvents(emulator, lost.watching(secrets.watching(emulator.fetch)));
  const server = await serveDev(source, api, port, { queue, jobs });
  return {
    ...{ url: server.url, emulator, source, secrets, adviceOn, endpoint: endpoint?.id },
    async close() {
      stop.abort();
      await emulator.close();
      await server.close();
    },
  };
}

/** Returns the command that makes a first delivery in the `dev` at this port. */
function firstCommand(app: URL | undefined, port: string): string {
  const isUsual = port === String(DEV_PORT);
  if (app === undefined) return `npx service-webhooks-cli dev 3000${isUsual ? '' : ` --port ${port}`}`;
  return `npx service-webhooks-cli send ${WEBHOOK_EVENT_TYPES[0]} --dev${isUsual ? '' : `=http://127.0.0.1:${port}`}`;
}

/** The signing secrets of this run. The emulator shows each one once, as the service does. */
interface IssuedSecrets {
  set(endpointId: string, secret: string): void;
  of(endpointId: string): string | undefined;
  all(): Iterable<string>;
  /** Returns the API, and records the secrets of endpoints that are created through it. */
  watching(api: Api): Api;
}

function createIssuedSecrets(): IssuedSecrets {
  const secrets = new Map<string, string>();
  return {
    set: (id, secret) => void secrets.set(id, secret),
    of: (id) => secrets.get(id),
    all: () => secrets.values(),
    watching: (api) => async (request) => {
      const response = await api(request);
      if (request.method !== 'POST' || response.status !== 201) return response;
      const created = await response
        .clone()
        .json()
        .catch(() => undefined);
      const { id, signing_secret: secret } = Object(created);
      if (typeof id === 'string' && typeof secret === 'string') secrets.set(id, secret);
      return response;
    },
  };
}

/** Serves the page and the API on one port of the loopback interface. @throws Failure where the port is not available */
export async function serveDev(
  source: PageSource,
  api: Api,
  port: number,
  options: Omit<ServePageOptions, 'others'> = {},
): Promise<ServedPage> {
  const others: RequestListener = (req, res) => void answer(api, req, res).catch(() => res.destroy());
  const served = await servePage(source, port, { ...options, others }).catch((error) => {
    throw portFailure(error, '127.0.0.1', port);
  });
  return { ...served, url: new URL(served.url).origin };
}

async function answer(api: Api, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const refusal = foreignRefusal(req);
  if (refusal) {
    drainBody(req);
    res
      .writeHead(refusal.status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: refusal.reason }));
    return;
  }
  const { status, headers, body } = await api(toRequest(req));
  res.writeHead(status, Object.fromEntries(headers));
  if (body === null) res.end();
  else Readable.fromWeb(body as import('node:stream/web').ReadableStream).pipe(res);
  req.resume(); // the rest of a body that no handler reads
}

function toRequest(req: IncomingMessage): Request {
  const { method = 'GET', url = '/' } = req;
  const headers = new Headers();
  for (const [name, value] of headerPairs(req.rawHeaders)) headers.append(name, value);
  const body = method === 'GET' || method === 'HEAD' ? null : Readable.toWeb(req);
  return new Request(new URL(url, `http://${req.headers.host}`), {
    method,
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
}
