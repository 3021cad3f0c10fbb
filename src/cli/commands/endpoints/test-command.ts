import { endpointsIn } from '../../../client/index.js';
import { type EventType, WEBHOOK_EVENT_TYPES } from '../../../event.js';
import { sampleEvent } from '../../../testing/sample-event.js';
import { signDelivery } from '../../../testing/sign-delivery.js';
import { answerAdvice } from '../../../wire/answer-advice.js';
import { deliver } from '../../../wire/deliver.js';
import { asSpecified } from '../../../wire/header-spelling.js';
import { apiCommand, called, openClient } from '../../api-options.js';
import { Failure } from '../../failure.js';
import { readSecrets, secretOption } from '../../secrets.js';
import { exitCodeOf, sendFields, sendPieces } from '../../send-report.js';
import type { Session } from '../../session.js';
import { timeoutOption } from '../../timeout-option.js';

/** Sends from this machine: the service has a test delivery in its dashboard, and none in its API. */
export function testCommand(session: Session) {
  return apiCommand('test')
    .summary('a signed sample to its URL, sent from this machine')
    .argument('<id>', 'the id of the endpoint')
    .addOption(secretOption())
    .option('--type <type>', 'the event type; the first that the endpoint gets')
    .addOption(timeoutOption())
    .action(async (id, { secret: sources, type: given, timeout: timeoutMs, ...options }) => {
      const client = await openClient(session, options);
      const [secret] = await readSecrets(session, sources);
      const { data } = await called(client.webhooks.list({ signal: session.signal }));
      const endpoint = endpointsIn(data).find((one) => one.id === id);
      if (endpoint === undefined) throw new Failure('no', `there is no endpoint ${id}: endpoints list shows all.`);
      const type = typeOf(given ?? endpoint.events[0]);
      const event = sampleEvent(type);
      const { headerPrefix } = options;
      const { headers, ...request } = signDelivery({ secret, event, webhookId: id, headerPrefix });
      const url = new URL(endpoint.url);
      const outgoing = { ...request, headers: asSpecified(headers), url };
      const sent = await deliver(outgoing, { timeoutMs, signal: session.signal });
      const advice = answerAdvice(sent, url);
      session.out.record(
        { kind: 'tested', endpoint: id, url: url.href, type, id: event.id, ...sendFields(sent), advice },
        [...sendPieces(sent), type, event.id, url.href],
        ...(advice ? [[`   ${advice.message} ${advice.hint}`]] : []),
      );
      session.exitCode = exitCodeOf([sent]);
    });
}

/** @throws Failure */
function typeOf(text: string | undefined): EventType {
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === text);
  if (type !== undefined) return type;
  throw new Failure('usage', `--type: there are ${WEBHOOK_EVENT_TYPES.join(', ')}.`);
}
