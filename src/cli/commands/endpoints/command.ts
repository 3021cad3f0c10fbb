import { Command } from '@commander-js/extra-typings';
import { endpointsIn, ensureEndpoint } from '../../../client/index.js';
import { WEBHOOK_EVENT_TYPES } from '../../../event.js';
import { apiCommand, called, openClient } from '../../api-options.js';
import { confirmed } from '../../confirmed.js';
import { EXIT } from '../../failure.js';
import { listOption } from '../../option-values.js';
import type { Session } from '../../session.js';
import { keepingSecrets } from './keeping-secrets.js';
import { rotateCommand } from './rotate-command.js';
import { testCommand } from './test-command.js';

/**
 * The commands about endpoints. Ctrl+C does not interrupt calls that change something, because their result would be
 * unknown.
 */
export function endpointsCommand(session: Session) {
  return new Command('endpoints')
    .description(
      'Manages the webhook endpoints of the account: lists, creates, changes, tests and deletes them, and rotates their secrets.',
    )
    .addCommand(listCommand(session))
    .addCommand(ensureCommand(session))
    .addCommand(updateCommand(session))
    .addCommand(testCommand(session))
    .addCommand(rotateCommand(session))
    .addCommand(deleteCommand(session))
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks endpoints list
  service-webhooks endpoints ensure https://app.example/webhooks --events stt.completed --save-secret secret.txt
  service-webhooks endpoints update wh_1 --events stt.completed,stt.failed
  service-webhooks endpoints test wh_1
  service-webhooks endpoints rotate wh_1 --save-secret new.txt
  service-webhooks endpoints delete wh_1`,
    );
}

const eventsOption = (says: string) => listOption('--events <types>', says, WEBHOOK_EVENT_TYPES);

function listCommand(session: Session) {
  return apiCommand('list')
    .summary('all of them')
    .action(async (options) => {
      const client = await openClient(session, options);
      const { data } = await called(client.webhooks.list({ signal: session.signal }));
      const endpoints = endpointsIn(data);
      for (const { id, url, events } of endpoints) {
        session.out.record({ kind: 'endpoint', id, url, events }, [['strong', id], url, events.join(', ')]);
      }
      if (endpoints.length === 0) session.out.note('There is no endpoint.');
      session.exitCode = EXIT.ok;
    });
}

function ensureCommand(session: Session) {
  return apiCommand('ensure')
    .summary('find, create or change the endpoint with this URL, so that it has exactly these events')
    .argument('<url>', 'where deliveries go: https, and public')
    .addOption(eventsOption('the event types; all'))
    .option('--save-secret <file>', 'a new file for the signing secret of an endpoint that is created')
    .action(async (url, { events = WEBHOOK_EVENT_TYPES, saveSecret, ...options }) => {
      const client = await openClient(session, options);
      const { action, id } = await called(ensureEndpoint({ url, events }, keepingSecrets(client, saveSecret)));
      session.out.record(
        { kind: 'endpoint', action, id, url, events, secretFile: action === 'created' ? saveSecret : undefined },
        [['good', action], id, url, action === 'created' ? `signing secret in ${saveSecret}` : undefined],
      );
      session.exitCode = EXIT.ok;
    });
}

function updateCommand(session: Session) {
  return apiCommand('update')
    .summary('another URL, or other events; the signing secret stays')
    .argument('<id>', 'the id of the endpoint')
    .option('--url <url>', 'where deliveries go')
    .addOption(eventsOption('the event types'))
    .action(async (id, { url, events, ...options }) => {
      const client = await openClient(session, options);
      const changes = { ...(url !== undefined && { url }), ...(events !== undefined && { events }) };
      await called(client.webhooks.update(id, changes));
      session.out.record({ kind: 'endpoint', action: 'updated', id, ...changes }, [['good', 'updated'], id, url]);
      session.exitCode = EXIT.ok;
    });
}

function deleteCommand(session: Session) {
  return apiCommand('delete')
    .summary('one, with its delivery history')
    .argument('<id>', 'the id of the endpoint')
    .option('--yes', 'delete without asking')
    .action(async (id, { yes = false, ...options }) => {
      const client = await openClient(session, options);
      const question = `Delete ${id}, with its delivery history?`;
      if (!yes && !(await confirmed(session, question, 'pass --yes to delete'))) {
        session.exitCode = EXIT.no;
        return;
      }
      await called(client.webhooks.delete(id));
      session.out.record({ kind: 'endpoint', action: 'deleted', id }, [['good', 'deleted'], id]);
      session.exitCode = EXIT.ok;
    });
}
