import { once } from 'node:events';
import { Command, Option } from '@commander-js/extra-typings';
import { WEBHOOK_EVENT_TYPES } from '../../../event.js';
import type { PageSource } from '../../../page/page-source.js';
import { type ServedPage, servePage } from '../../../page/serve-page.js';
import { createReceiver } from '../../../receiver/receiver.js';
import { baseUrlOption, keyOption, openClient } from '../../api-options.js';
import { DEFAULT_DIRECTORY, openCaptures } from '../../captures.js';
import { counted } from '../../counted.js';
import { EXIT, Failure } from '../../failure.js';
import { portFailure } from '../../listening.js';
import { duration, hostNames, listOption, repeatable, wholeNumber } from '../../option-values.js';
import { checkSigned, redactOption } from '../../redact-delivery.js';
import { findSecrets, readSecret, secretOption, signWithOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { DEFAULT_PORT, parseApp } from '../../target.js';
import { legacyOption, toleranceOption } from '../../verification-options.js';
import { announce } from './announce.js';
import type { KeyActions } from './keys.js';
import { createReceivedSource } from './received-source.js';
import { createRoutes, routeArgument } from './routes.js';
import { serve } from './serve.js';
import { createTemporaryEndpoint } from './temporary-endpoint.js';

const UI_PORT = 4749;

export function listenCommand(session: Session) {
  return new Command('listen')
    .description(
      'Receives deliveries, verifies them and prints a line for each. With a port or a URL it forwards the exact bytes to your app and returns the app’s answer. Ends with Ctrl+C.',
    )
    .argument('[app...]', 'a port or a URL: your app, or several. Without a path, that of the request')
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
    .option('--header-prefix <prefix>', 'the prefix of the header names', 'x-service')
    .addOption(legacyOption())
    .addOption(toleranceOption())
    .addOption(
      new Option('--ui [=port]', `show the deliveries on a page of this machine; ${UI_PORT}`)
        .preset(`${UI_PORT}`)
        .argParser(wholeNumber(0, 65_535)),
    )
    .option('--url <url>', 'register this public https URL, which must lead here, until the end')
    .option('--cleanup', 'first delete the endpoint with that URL that an earlier run left behind')
    .addOption(keyOption())
    .addOption(baseUrlOption())
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks listen                          print deliveries
  service-webhooks listen 3000 --capture           forward to port 3000, and keep each delivery
  service-webhooks listen 3000 --route 'stt.*=3001/stt'   one event type to another app
  service-webhooks listen --respond 500            watch the service retry
  service-webhooks listen --delay 25s              answer after the service’s time limit
  service-webhooks listen 3000 --ui                show the deliveries in a browser
  service-webhooks listen 3000 --url https://me.tunnel.example/webhooks
  service-webhooks listen 3000 --allow-host me.tunnel.example     behind a tunnel, for an endpoint that there is`,
    )
    .action(
      async (
        app,
        {
          forwardTo = [],
          route = [],
          insecure = false,
          secret: sources,
          allowHost = [],
          url,
          ui,
          cleanup = false,
          capture: directory,
          redact: fields,
          signWith,
          respond,
          delay: delayMs = 0,
          ...given
        },
      ) => {
        const { headerPrefix, legacy, tolerance: toleranceSeconds, host, port, events } = given;
        const apps = [...app, ...forwardTo].map((text) => parseApp(session, text));
        const routed = route.map(({ pattern, app }) => ({ pattern, url: parseApp(session, app) }));
        const routes = createRoutes(apps, routed);
        checkTogether({ url, cleanup, sources, directory, fields, signWith });
        const captures = directory === undefined ? undefined : await openCaptures(directory);
        const register = async (publicUrl: string) => {
          const settings = { url: publicUrl, events: events ?? WEBHOOK_EVENT_TYPES };
          return createTemporaryEndpoint(await openClient(session, given), settings, cleanup);
        };

        const endpoint = url === undefined ? undefined : await register(url);
        try {
          const redaction =
            fields && signWith !== undefined ? { fields, secret: await readSecret(session, signWith) } : undefined;
          const secrets = endpoint ? [endpoint.secret.reveal()] : await findSecrets(session, sources);
          if (redaction && !secrets) {
            throw new Failure(
              'usage',
              '--redact keeps what is verified: set WEBHOOK_SECRET, or name it with --secret.',
            );
          }
          const checks = { headerPrefix, legacy, toleranceSeconds };
          const { now } = session;
          const receiver =
            secrets && createReceiver({ ...checks, now, secret: secrets, logger: false, on: { '*': () => {} } });
          const options = {
            checks,
            now,
            secrets,
            receiver,
            insecure,
            routes,
            events,
            captures,
            redaction,
            respond,
            delayMs,
            mark: crypto.randomUUID(),
          };
          const source = createReceivedSource(options, () => new URL(serving.url), session.signal);
          const allowedHosts = url === undefined ? allowHost : [...allowHost, new URL(url).hostname];
          const serving = await serve(session, options, { host, port, allowedHosts, received: source.add });
          const own = Number(new URL(serving.url).port);
          const { isOwnAddress } = await import('./own-address.js');
          for (const target of routes.apps) {
            if (!(await isOwnAddress(target, own))) continue;
            await serving.stop();
            throw new Failure(
              'usage',
              `${target.href} is listen itself: name the port of your app, or another --port.`,
            );
          }
          let page = ui === undefined ? undefined : await openPage(source, ui);
          announce(session.out, {
            url: serving.url,
            host,
            targets: apps,
            routes: routed,
            directory,
            verifies: !!secrets,
            endpoint,
            page: page?.url,
          });

          const keys = await openTerminalKeys(session, {
            replay: source.replayLast,
            page: async () => {
              page ??= await openPage(source, UI_PORT);
              (await import('./open-browser.js')).openBrowser(page.url, session.env);
              return `Deliveries: ${page.url}`;
            },
          });
          const stopped = session.signal.aborted ? undefined : once(session.signal, 'abort');
          await Promise.race([stopped, ...(keys ? [keys.quit] : [])]);
          keys?.close();
          const deliveries = await serving.stop();
          await page?.close();
          session.out.record({ kind: 'ended', deliveries, directory }, [
            counted(deliveries, 'request'),
            directory && `kept in ${directory}`,
          ]);
        } finally {
          await endpoint?.remove();
        }
        session.exitCode = EXIT.ok;
      },
    );
}

/** Loaded where there is a terminal, so that the program starts quickly elsewhere. */
async function openTerminalKeys(session: Session, actions: KeyActions) {
  if (!session.stdout.isTTY) return undefined;
  return (await import('./keys.js')).openKeys(session, actions);
}

/** @throws Failure where the port is not available */
async function openPage(source: PageSource, port: number): Promise<ServedPage> {
  return servePage(source, port).catch((error) => {
    throw portFailure(error, '127.0.0.1', port, '--ui');
  });
}

interface Together {
  url: string | undefined;
  cleanup: boolean;
  sources: readonly string[] | undefined;
  directory: string | undefined;
  fields: readonly string[] | undefined;
  signWith: string | undefined;
}

/** @throws Failure for options that have no effect with or without one another */
function checkTogether({ url, cleanup, sources, directory, fields, signWith }: Together): void {
  if (url === undefined && cleanup) throw new Failure('usage', '--cleanup is about the endpoint of --url: give both.');
  if (url !== undefined && sources) throw new Failure('usage', '--url makes a secret of its own: leave --secret out.');
  if (fields && directory === undefined) throw new Failure('usage', '--redact is about --capture: give both.');
  checkSigned(fields, signWith);
}
