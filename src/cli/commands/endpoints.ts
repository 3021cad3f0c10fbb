import { Command } from '@commander-js/extra-typings';
import { type Client, type CreatedEndpoint, endpointsIn, ensureEndpoint } from '../../client/index.js';
import { WEBHOOK_EVENT_TYPES } from '../../event.js';
import { apiCommand, called, openClient } from '../api/api-options.js';
import { newSecretFile } from '../api/new-secret-file.js';
import { EXIT } from '../failure.js';
import { listOption } from '../option-values.js';
import type { Session } from '../session.js';

/** The account's endpoints. Calls that change something are not cut off by Ctrl+C: what they did would not be known. */
export function endpointsCommand(session: Session) {
  return new Command('endpoints')
    .description('The webhook endpoints of the account: they are listed, made, changed and deleted.')
    .addCommand(listCommand(session))
    .addCommand(ensureCommand(session))
    .addCommand(updateCommand(session))
    .addCommand(deleteCommand(session))
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks endpoints list
  service-webhooks endpoints ensure https://app.example/webhooks --events stt.completed --save-secret secret.txt
  service-webhooks endpoints update wh_1 --events stt.completed,stt.failed
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
    .summary('one with this URL and exactly these events: found, made, or changed')
    .argument('<url>', 'where deliveries go: https, and public')
    .addOption(eventsOption('the event types; all'))
    .option('--save-secret <file>', 'where the signing secret is put if the endpoint is made; a new file')
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

/** The client, which makes an endpoint only where its secret can be kept. */
function keepingSecrets({ webhooks }: Client, file: string | undefined): Pick<Client, 'webhooks'> {
  return {
    webhooks: {
      ...webhooks,
      async create(endpoint, options) {
        const secretFile = await newSecretFile(file);
        let created: CreatedEndpoint | undefined;
        try {
          created = await webhooks.create(endpoint, options);
          await secretFile.write(created.signingSecret);
          return created;
        } catch (error) {
          await secretFile.discard();
          // Nobody would ever know its secret.
          for (const { id } of endpointsIn(created?.data)) await webhooks.delete(id, options);
          throw error;
        }
      },
    },
  };
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
    .action(async (id, options) => {
      const client = await openClient(session, options);
      await called(client.webhooks.delete(id));
      session.out.record({ kind: 'endpoint', action: 'deleted', id }, [['good', 'deleted'], id]);
      session.exitCode = EXIT.ok;
    });
}
