import { Command, Option } from '@commander-js/extra-typings';
import { createReceiver, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { openClient } from '../../api-options.js';
import { DEFAULT_DIRECTORY, openCaptures } from '../../captures.js';
import { EXIT, Failure } from '../../failure.js';
import { portFailure } from '../../listening.js';
import {
  duration,
  headerPrefixOption,
  hostNames,
  legacyOption,
  listOption,
  repeatable,
  toleranceOption,
  wholeNumber,
} from '../../options.js';
import { counted } from '../../output.js';
import type { PageSource } from '../../page/page-source.js';
import { type ServedPage, servePage } from '../../page/server/page-server.js';
import { checkSigned, redactOption } from '../../redact.js';
import { findSecrets, readSecret, secretOption, signWithOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { DEFAULT_PORT, parseApp } from '../../target.js';
import { untilQuit } from '../../until-quit.js';
import { announce } from './announce.js';
import type { ListenOptions } from './options.js';
import { createReceivedSource } from './received-source.js';
import { createRoutes, isOwnAddress, routeArgument } from './routes.js';
import { serve } from './serve.js';
import { createTemporaryEndpoint, type TemporaryEndpoint } from './temporary-endpoint.js';

const UI_PORT = 4749;

export function listenCommand(session: Session) {
  return optionsOfListen().action(async (app, given) => {
    const { forwardTo = [], route = [], capture: directory } = given;
    const apps = [...app, ...forwardTo].map((text) => parseApp(session, text));
    const routed = route.map(({ pattern, app }) => ({ pattern, url: parseApp(session, app) }));
    checkTogether(given);
    const captures = directory === undefined ? undefined : await openCaptures(directory);
    const endpoint = given.url === undefined ? undefined : await register(session, given.url, given);
    try {
      const options = await readOptions(session, given, endpoint, { routes: createRoutes(apps, routed), captures });
      const { serving, source } = await start(session, options, given);
      const page = pageOnDemand(source);
      const places = { url: serving.url, host: given.host, targets: apps, routes: routed, directory };
      const shown = given.ui === undefined ? undefined : await page.open(given.ui);
      announce(session.out, { ...places, verifies: options.secrets !== undefined, endpoint, page: shown });
      await untilQuit(session, ({ pageKey }) => [
        { key: 'r', says: 'replays the last delivery', run: source.replayLast },
        pageKey(session, () => page.open(UI_PORT)),
      ]);
      const deliveries = await serving.stop();
      await page.close();
      session.out.record({ kind: 'ended', deliveries, directory }, [
        counted(deliveries, 'request'),
        directory && `kept in ${directory}`,
      ]);
    } finally {
      await endpoint?.remove();
    }
    session.exitCode = EXIT.ok;
  });
}

function optionsOfListen() {
  return new Command('listen')
    .description(
      'Receives deliveries, verifies them and prints a line for each. With a port or a URL it forwards the exact bytes to your app and returns the app’s answer. Ends with Ctrl+C.',
    )
    .argument(
      '[app...]',
      'your app, or several: a port, which means its path /webhooks, or a URL. A URL without a path gets that of the request',
    )
    .option('--forward-to <app>', 'the same as the argument (repeatable)', repeatable)
    .option('--route <types=app>', 'where these event types go, as in generation.*=3000/a (repeatable)', routeArgument)
    .option('--insecure', 'accept any certificate of the app, as a self-signed one')
    .option('-p, --port <number>', 'the port to listen on; 0 for any', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--allow-host <name>', 'the host of a tunnel of yours without --url (repeatable)', hostNames)
    .addOption(secretOption())
    .addOption(
      listOption('--events <types>', 'only these types; others are acknowledged and dropped', WEBHOOK_EVENT_TYPES),
    )
    .addOption(
      new Option('--capture [=directory]', `keep each delivery as a .http file; in ${DEFAULT_DIRECTORY}`).preset(
        DEFAULT_DIRECTORY,
      ),
    )
    .addOption(redactOption())
    .addOption(signWithOption())
    .option('--respond <status>', 'answer every delivery with this status', wholeNumber(200, 599))
    .option('--delay <time>', 'delay each answer by this time', duration)
    .addOption(headerPrefixOption())
    .addOption(legacyOption())
    .addOption(toleranceOption())
    .addOption(
      new Option('--ui [=port]', `show the deliveries on a page of this machine; ${UI_PORT}`)
        .preset(`${UI_PORT}`)
        .argParser(wholeNumber(0, 65_535)),
    )
    .option(
      '--url <url>',
      'register this public https URL, which must lead here, until the end; with the key in SERVICE_API_KEY',
    )
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks listen                          print deliveries
  service-webhooks listen 3000 --capture           forward to /webhooks of port 3000, and keep each delivery
  service-webhooks listen 3000 --route 'stt.*=3001/stt'   one event type to another app
  service-webhooks listen --respond 500            watch the service retry
  service-webhooks listen --delay 25s              answer after the service’s time limit
  service-webhooks listen 3000 --ui                show the deliveries in a browser
  service-webhooks listen 3000 --url https://me.tunnel.example/webhooks
  service-webhooks listen 3000 --allow-host me.tunnel.example     behind a tunnel, for an endpoint that there is`,
    );
}

type Given = ReturnType<ReturnType<typeof optionsOfListen>['opts']>;

/** @throws Failure for options that have no effect with or without one another */
function checkTogether({ url, secret, capture, redact, signWith }: Given): void {
  if (url !== undefined && secret) throw new Failure('usage', '--url makes a secret of its own: leave --secret out.');
  if (redact && capture === undefined) throw new Failure('usage', '--redact is about --capture: give both.');
  checkSigned(redact, signWith);
}

/** Creates the endpoint that sends to `url` until the end. @throws Failure */
async function register(session: Session, url: string, given: Given): Promise<TemporaryEndpoint> {
  const { events = WEBHOOK_EVENT_TYPES, headerPrefix } = given;
  return createTemporaryEndpoint(await openClient(session, { headerPrefix }), { url, events });
}

/** Reads the secrets, and says how requests are treated. @throws Failure */
async function readOptions(
  session: Session,
  { headerPrefix, legacy, tolerance: toleranceSeconds, secret: sources, redact: fields, signWith, ...given }: Given,
  endpoint: TemporaryEndpoint | undefined,
  targets: Pick<ListenOptions, 'routes' | 'captures'>,
): Promise<ListenOptions> {
  const { insecure = false, events, respond, delay: delayMs = 0 } = given;
  const redaction =
    fields && signWith !== undefined ? { fields, secret: await readSecret(session, signWith) } : undefined;
  const secrets = endpoint ? [endpoint.secret.reveal()] : await findSecrets(session, sources);
  if (redaction && !secrets) {
    throw new Failure('usage', '--redact keeps what is verified: set WEBHOOK_SECRET, or name it with --secret.');
  }
  const { now } = session;
  const checks = { headerPrefix, legacy, toleranceSeconds };
  const receiver = secrets && createReceiver({ ...checks, now, secret: secrets, logger: false, on: { '*': () => {} } });
  const mark = crypto.randomUUID();
  return { ...targets, checks, now, secrets, receiver, insecure, events, redaction, respond, delayMs, mark };
}

/** @throws Failure where the port is not available, or an app is `listen` itself */
async function start(session: Session, options: ListenOptions, { host, port, allowHost = [], url }: Given) {
  const source = createReceivedSource(options, () => new URL(serving.url), session.signal);
  const allowedHosts = url === undefined ? allowHost : [...allowHost, new URL(url).hostname];
  const serving = await serve(session, options, { host, port, allowedHosts, received: source.add });
  const own = Number(new URL(serving.url).port);
  for (const target of options.routes.apps) {
    if (!(await isOwnAddress(target, own))) continue;
    await serving.stop();
    throw new Failure('usage', `${target.href} is listen itself: name the port of your app, or another --port.`);
  }
  return { source, serving };
}

/** The page of the deliveries, which is opened once: at the start or by a key. */
function pageOnDemand(source: PageSource) {
  let page: ServedPage | undefined;
  return {
    /** Resolves to its URL. @throws Failure where the port is not available */
    async open(port: number): Promise<string> {
      page ??= await servePage(source, port).catch((error) => {
        throw portFailure(error, '127.0.0.1', port, '--ui');
      });
      return page.url;
    },
    close: async () => page?.close(),
  };
}
