import { writeFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { capturedAt, captureOrFile, DEFAULT_DIRECTORY, listCaptures, readHttpFile } from '../../captures.js';
import { EXIT, Failure, fileFailure } from '../../failure.js';
import { formatHttp, type HttpMessage } from '../../http/http-message.js';
import { headerPrefixOption, legacyOption, wholeNumber } from '../../options.js';
import { shortened } from '../../output.js';
import { checkSigned, redactDelivery, redactOption } from '../../redact.js';
import { findSecrets, readSecret, readSecrets, secretOption, signWithOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { checkGenuine, signatureFault, signUnverifiedOption } from '../../signature-fault.js';

export function capturesCommand(session: Session) {
  return new Command('captures')
    .description('The deliveries that listen has captured: they are listed, and exported as fixtures.')
    .addCommand(listCommand(session))
    .addCommand(exportCommand(session))
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks captures list
  service-webhooks captures list --limit 5 --captures kept
  service-webhooks captures export 7f3a test/completed.http --redact data.downloadUrl --sign-with file:test-secret.txt
  service-webhooks replay --last 3000`,
    );
}

function listCommand(session: Session) {
  return new Command('list')
    .summary('the newest first')
    .option('--captures <directory>', 'where they are', DEFAULT_DIRECTORY)
    .option('--limit <number>', 'so many at most', wholeNumber(1, 100_000), 20)
    .addOption(secretOption())
    .addOption(legacyOption())
    .addOption(headerPrefixOption())
    .action(async ({ captures: directory, limit, secret: sources, ...checks }) => {
      const secrets = await findSecrets(session, sources);
      const isVerified = secrets && ((message: HttpMessage) => signatureFault(message, secrets, checks) === undefined);
      const { captures, total } = await listCaptures(directory, limit, isVerified);
      for (const { id, file, at, type, eventId, bytes, verified } of captures) {
        const time = new Date(at).toISOString();
        session.out.record({ kind: 'capture', id, file, at: time, type, eventId, bytes, verified }, [
          ['strong', id],
          ['faint', time],
          shortened(type ?? 'no event', 60),
          eventId && shortened(eventId, 60),
          ['faint', `${bytes} B`],
          verified === false && ['warn', 'not verified'],
        ]);
      }
      if (total === 0) session.out.note(`There are no deliveries in ${directory}: listen --capture keeps them.`);
      else if (total > limit)
        session.out.note(`${total - limit} older ones are not shown: --limit ${total} shows all.`);
      session.exitCode = EXIT.ok;
    });
}

function exportCommand(session: Session) {
  return new Command('export')
    .summary('one as a fixture for your repository: without some fields, and signed again')
    .argument('<capture>', 'its id, the id of its event, how one of these begins, or a file')
    .argument('<file>', 'where it is put; a new file')
    .addOption(redactOption())
    .addOption(signWithOption())
    .addOption(secretOption())
    .addOption(signUnverifiedOption())
    .option('--captures <directory>', 'where an id is looked for', DEFAULT_DIRECTORY)
    .addOption(legacyOption())
    .addOption(headerPrefixOption())
    .action(async (name, target, { captures: directory, redact: fields, signWith, secret: sources, ...options }) => {
      const { headerPrefix, signUnverified } = options;
      checkSigned(fields, signWith);
      if (fields === undefined || signWith === undefined) {
        throw new Failure('usage', 'say what is left out: --redact data.downloadUrl, or copy the file as it is.');
      }
      const secret = await readSecret(session, signWith);
      const source = await captureOrFile(name, directory);
      const message = await readHttpFile(session.read, source);
      if (!signUnverified) {
        const secrets = await readSecrets(session, sources);
        checkGenuine(source, message, secrets, options, 'Copy the file to have it as it came.');
      }
      const at = capturedAt(source) ?? session.now();
      const redacted = redactDelivery(message, { fields, secret }, { headerPrefix, at });
      if (redacted === undefined) throw new Failure('file', `${source}: its body is no JSON; copy the file as it is.`);
      await writeFile(target, formatHttp(redacted.message), { flag: 'wx' }).catch((error) => {
        throw fileFailure(target, error);
      });
      const missing = fields.filter((field) => !redacted.found.includes(field));
      session.out.record({ kind: 'exported', source, file: target, redacted: redacted.found, missing }, [
        ['good', 'exported'],
        target,
        `without ${redacted.found.join(', ') || 'any field less'}`,
        missing.length > 0 && ['warn', `it has no ${missing.join(', ')}`],
      ]);
      session.exitCode = missing.length === 0 ? EXIT.ok : EXIT.no;
    });
}
