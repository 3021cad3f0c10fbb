import { Command } from '@commander-js/extra-typings';
import { type EventType, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { ensureEndpoint } from 'service-webhooks/client';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { apiCommand, called, idsWithUrl, listEndpoints, noEndpoint, openClient } from '../../api-options.js';
import { confirmed } from '../../confirmed.js';
import { diagnose } from '../../diagnosis/diagnose.js';
import { EXIT, Failure } from '../../failure.js';
import { deliverAsService } from '../../http/deliver.js';
import { listOption, timeoutOption } from '../../options.js';
import type { Piece } from '../../output.js';
import { readSecrets, secretOption } from '../../secrets.js';
import { exitCodeOf, reportSent } from '../../send-report.js';
import type { Session } from '../../session.js';
import { keepingSecrets } from './new-secret-file.js';
import { rotateCommand } from './rotate-command.js';

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
      const endpoints = await listEndpoints(client, { signal: session.signal });
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
      const secretFile = action === 'created' ? saveSecret : undefined;
      const pieces = [url, secretFile && `signing secret in ${secretFile}`];
      reportDone(session, action, { id, url, events, secretFile }, pieces);
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
      reportDone(session, 'updated', { id, ...changes }, [url]);
    });
}

/** Sends from this machine: the service has a test delivery in its dashboard, and none in its API. */
function testCommand(session: Session) {
  return apiCommand('test')
    .summary('a signed sample to its URL, sent from this machine')
    .argument('<id>', 'the id of the endpoint')
    .addOption(secretOption())
    .option('--type <type>', 'the event type; the first that the endpoint gets')
    .addOption(timeoutOption())
    .action(async (id, { secret: sources, type: given, timeout: timeoutMs, ...options }) => {
      const client = await openClient(session, options);
      const [secret] = await readSecrets(session, sources);
      const endpoints = await listEndpoints(client, { signal: session.signal });
      const endpoint = endpoints.find((one) => one.id === id);
      if (endpoint === undefined) throw noEndpoint(id);
      const type = typeOf(given ?? endpoint.events[0]);
      const event = sampleEvent(type);
      const { headerPrefix } = options;
      const delivery = signDelivery({ secret, event, webhookId: id, headerPrefix });
      const url = new URL(endpoint.url);
      const { signal } = session;
      const sent = await deliverAsService(delivery, url, { timeoutMs, signal });
      const answered = { ...delivery, sent, url, at: Date.now() };
      const advice = await diagnose(answered, { secret, headerPrefix, signal });
      const facts = { kind: 'tested', endpoint: id, url: url.href, type, id: event.id };
      reportSent(session.out, facts, sent, [type, event.id, url.href], advice);
      session.exitCode = exitCodeOf([sent]);
    });
}

/** @throws Failure */
function typeOf(text: string | undefined): EventType {
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === text);
  if (type !== undefined) return type;
  throw new Failure('usage', `--type: there are ${WEBHOOK_EVENT_TYPES.join(', ')}.`);
}

function deleteCommand(session: Session) {
  return apiCommand('delete')
    .summary('one, or each with a URL, with the delivery history')
    .argument('<endpoint>', 'its id, or its URL, which means each endpoint with that URL')
    .option('--yes', 'delete without asking')
    .action(async (endpoint, { yes = false, ...options }) => {
      const client = await openClient(session, options);
      const ids = endpoint.includes('://')
        ? await idsWithUrl(client, endpoint, { signal: session.signal })
        : [endpoint];
      if (ids.length === 0) throw noEndpoint(endpoint);
      const question = `Delete ${ids.join(', ')}, with ${ids.length === 1 ? 'its' : 'their'} delivery history?`;
      if (!yes && !(await confirmed(session, question, 'pass --yes to delete'))) {
        session.exitCode = EXIT.no;
        return;
      }
      for (const id of ids) {
        await called(client.webhooks.delete(id));
        reportDone(session, 'deleted', { id });
      }
    });
}

type EndpointFacts = { id: string | undefined } & Readonly<Record<string, unknown>>;

/** Reports what was done to an endpoint, which ends the command. */
function reportDone(session: Session, action: string, facts: EndpointFacts, pieces: Piece[] = []): void {
  session.out.record({ kind: 'endpoint', action, ...facts }, [['good', action], facts.id, ...pieces]);
  session.exitCode = EXIT.ok;
}
