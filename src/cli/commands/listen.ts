import { once } from 'node:events';
import { Command, Option } from '@commander-js/extra-typings';
import { WEBHOOK_EVENT_TYPES } from '../../event.js';
import type { PageSource } from '../../page/page-source.js';
import { type ServedPage, servePage } from '../../page/serve-page.js';
import { createReceiver } from '../../receiver.js';
import { baseUrlOption, keyOption, openClient } from '../api/api-options.js';
import { createTemporaryEndpoint } from '../api/temporary-endpoint.js';
import { DEFAULT_DIRECTORY, openCaptures } from '../captures.js';
import { EXIT, Failure } from '../failure.js';
import { announce } from '../listen/announce.js';
import { createReceivedSource } from '../listen/received-source.js';
import { serve } from '../listen/serve.js';
import { portFailure } from '../listening.js';
import { duration, listOption, wholeNumber } from '../option-values.js';
import { findSecrets, secretOption } from '../secrets.js';
import type { Session } from '../session.js';
import { DEFAULT_PORT, parseTarget } from '../target.js';

const UI_PORT = 4749;

export function listenCommand(session: Session) {
  return new Command('listen')
    .description(
      'Receives deliveries, verifies them and prints a line for each. With a port or a URL it hands the exact bytes to your app, and answers what the app answers. Ends with Ctrl+C.',
    )
    .argument('[app]', 'a port or a URL: your app. Without a path, that of the request')
    .option('--port <number>', 'where to listen; 0 for any', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(secretOption())
    .addOption(
      listOption('--events <types>', 'these types alone; others are acknowledged, and forgotten', WEBHOOK_EVENT_TYPES),
    )
    .option('--capture [directory]', `keep each delivery as a .http file; in ${DEFAULT_DIRECTORY}`)
    .option('--respond <status>', 'answer this status, whatever comes', wholeNumber(200, 599))
    .option('--delay <time>', 'answer so much later', duration)
    .option('--header-prefix <prefix>', 'what the header names begin with', 'x-service')
    .addOption(new Option('--legacy <policy>', 'where only the legacy header came').choices(['reject', 'accept']))
    .option('--tolerance <seconds>', 'greatest distance of the signed time', wholeNumber(1, 1_000_000_000))
    .option('--ui [port]', `show the deliveries on a page of this machine; ${UI_PORT}`, wholeNumber(0, 65_535))
    .option('--url <url>', 'a public https URL that leads here: a temporary endpoint, deleted at the end')
    .option('--cleanup', 'delete the endpoint with that URL which was left behind, first')
    .addOption(keyOption())
    .addOption(baseUrlOption())
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks listen                          print what comes
  service-webhooks listen 3000 --capture           hand it to the app on port 3000, and keep it
  service-webhooks listen --respond 500            see how the sender tries again
  service-webhooks listen --delay 25s              answer when the sender has given up
  service-webhooks listen 3000 --ui                look at the deliveries in a browser
  service-webhooks listen 3000 --url https://me.tunnel.example/webhooks`,
    )
    .action(
      async (app, { secret: sources, url, ui, cleanup = false, capture, respond, delay: delayMs = 0, ...given }) => {
        const { headerPrefix, legacy, tolerance: toleranceSeconds, host, port, events } = given;
        const target = app === undefined ? undefined : parseTarget(app);
        checkTogether(url, cleanup, sources);
        const directory = capture === true ? DEFAULT_DIRECTORY : capture;
        const captures = directory === undefined ? undefined : await openCaptures(directory);
        const register = async (publicUrl: string) => {
          const settings = { url: publicUrl, events: events ?? WEBHOOK_EVENT_TYPES };
          return createTemporaryEndpoint(await openClient(session, given), settings, cleanup);
        };

        const endpoint = url === undefined ? undefined : await register(url);
        try {
          const secrets = endpoint ? [endpoint.secret.reveal()] : await findSecrets(session, sources);
          const checks = { headerPrefix, legacy, toleranceSeconds, now: session.now };
          const receiver = secrets && createReceiver({ ...checks, secret: secrets, on: { '*': () => {} } });
          const options = { ...checks, secrets, receiver, target, events, captures, respond, delayMs };
          const source = createReceivedSource(options, () => new URL(serving.url), session.signal);
          const serving = await serve(session, options, { host, port, received: source.add });
          const page = ui === undefined ? undefined : await openPage(source, ui === true ? UI_PORT : ui);
          announce(session.out, {
            url: serving.url,
            host,
            target,
            directory,
            verifies: !!secrets,
            endpoint,
            page: page?.url,
          });

          if (!session.signal.aborted) await once(session.signal, 'abort');
          const deliveries = await serving.stop();
          await page?.close();
          session.out.record({ kind: 'ended', deliveries, directory }, [
            `${deliveries} requests`,
            directory && `kept in ${directory}`,
          ]);
        } finally {
          await endpoint?.remove();
        }
        session.exitCode = EXIT.ok;
      },
    );
}

/** @throws Failure where the port cannot be had */
async function openPage(source: PageSource, port: number): Promise<ServedPage> {
  return servePage(source, port).catch((error) => {
    throw portFailure(error, '127.0.0.1', port, '--ui');
  });
}

/** @throws Failure for options that say nothing with or without one another */
function checkTogether(url: string | undefined, cleanup: boolean, sources: readonly string[] | undefined): void {
  if (url === undefined && cleanup) throw new Failure('usage', '--cleanup is about the endpoint of --url: give both.');
  if (url !== undefined && sources) throw new Failure('usage', '--url makes a secret of its own: leave --secret out.');
}
