import { stat } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { DEFAULT_DIRECTORY, findCapture } from '../captures.js';
import { deliver } from '../deliver.js';
import { type HttpMessage, parseHttp } from '../http-file.js';
import { wholeNumber } from '../option-values.js';
import { readSecrets, secretOption } from '../secrets.js';
import { exitCodeOf, sentFields, sentPieces } from '../sent.js';
import type { Session } from '../session.js';
import { signAnew } from '../sign-anew.js';
import { parseTarget, withPathOf } from '../target.js';
import { timeoutOption } from '../timeout-option.js';

export function replayCommand(session: Session) {
  return new Command('replay')
    .description('Sends a captured delivery again, signed anew, so that its time is that of now.')
    .argument('<capture>', 'a .http file, or the id of a captured delivery or of its event')
    .argument('[url]', 'a port or a URL; where listen listens. Without a path, that of the capture')
    .addOption(secretOption())
    .option('--exact', 'the bytes and headers as they were captured; needs no secret')
    .option('--captures <directory>', 'where an id is looked for', DEFAULT_DIRECTORY)
    .option('--attempt <number>', 'which attempt of the delivery it is; as captured', wholeNumber(1, 1_000_000))
    .addOption(timeoutOption())
    .option('--header-prefix <prefix>', 'what the header names begin with', 'x-service')
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks replay 7f3a9c01 3000
  service-webhooks replay evt_1 http://localhost:3000/webhooks
  service-webhooks replay delivery.http 3000 --exact       refused as too old by a receiver that is right`,
    )
    .action(async (capture, url, { secret: sources, exact = false, ...options }) => {
      const given = parseTarget(url);
      const isFile = await stat(capture).then(
        () => true,
        () => false,
      );
      const file = isFile ? capture : await findCapture(options.captures, capture);
      const message = parseHttp(await session.read(file), file);
      const headers = exact ? message.headers : await signedNow(message, { sources, ...options });
      const target = withPathOf(given, message.path);
      const outgoing = { ...message, headers, url: target };
      const sent = await deliver(outgoing, { timeoutMs: options.timeout, signal: session.signal });
      session.out.record({ kind: 'replayed', file, exact, url: target.href, ...sentFields(sent) }, [
        ...sentPieces(sent),
        exact ? 'as captured' : 'signed anew',
        file,
        target.href,
      ]);
      session.exitCode = exitCodeOf([sent]);
    });

  async function signedNow(message: HttpMessage, { sources, headerPrefix, attempt }: Signing) {
    const [secret] = await readSecrets(session, sources);
    return signAnew(message, { secret, at: session.now(), headerPrefix, attempt });
  }
}

interface Signing {
  sources?: readonly string[] | undefined;
  headerPrefix: string;
  attempt?: number | undefined;
}
