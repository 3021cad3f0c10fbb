import { Argument, Command, Option } from '@commander-js/extra-typings';
import { type EventType, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { nearestName } from 'service-webhooks/option-checks';
import { type SignedDelivery, type SigningOptions, signDelivery } from 'service-webhooks/testing';
import { type Answered, diagnose } from '../../diagnosis/diagnose.js';
import { Failure } from '../../failure.js';
import { isAccepted } from '../../http/answer.js';
import { deliverAsService, type SendResult } from '../../http/deliver.js';
import { headerPrefixOption, listOption, repeatable, timeoutOption, wholeNumber } from '../../options.js';
import { readSecrets, secretOption } from '../../secrets.js';
import { adviceLines, exitCodeOf, reportSent, sendFields } from '../../send-report.js';
import type { Session } from '../../session.js';
import { parseApp, parseTarget } from '../../target.js';
import { DEV_PORT, emitInto } from '../dev/dev-events.js';
import { FAULT_NAMES, withFaults } from './faults.js';
import { sendSeries } from './series.js';
import { sampleWith } from './set-fields.js';

export function sendCommand(session: Session) {
  return new Command('send')
    .description(
      'Signs a sample event as the service would, and delivers it. Waits for the answer as long as the service does.',
    )
    .addArgument(typeArgument())
    .argument('[url]', 'a port, which means its path /webhooks, or a URL; where listen listens')
    .addOption(secretOption())
    .option('--set <field=value>', 'a field of the event: field=text, or field:=json (repeatable)', repeatable)
    .option('--body <file>', 'the exact bytes to sign and send in place of a sample; - for stdin')
    .addOption(
      new Option('--dev [=url]', 'give the event to a running dev, which delivers it with retries').preset(
        `http://127.0.0.1:${DEV_PORT}`,
      ),
    )
    .option('--attempt <number>', 'which attempt of the delivery it is', wholeNumber(1, 1_000_000), 1)
    .addOption(listOption('--fault <names>', 'the faults of the delivery, with commas', FAULT_NAMES))
    .option('--count <number>', 'the number of deliveries, each of a new event', wholeNumber(1, 1_000_000), 1)
    .option('--concurrency <number>', 'the number of deliveries at the same time', wholeNumber(1, 1_000), 10)
    .addOption(timeoutOption())
    .option('--webhook-id <id>', 'the id of the endpoint')
    .addOption(headerPrefixOption())
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks send generation.completed 3000
  service-webhooks send generation.completed 3000/api/webhooks --set data.clipId=clip_1
  service-webhooks send stt.failed --set 'data.reason:={"code":7}' --attempt 3
  service-webhooks send stt.completed --fault stale,flipped-bit
  service-webhooks send stt.completed 3000 --count 1000 --concurrency 50
  service-webhooks send --body body.json 3000
  service-webhooks send stt.failed --dev            to what dev delivers to, with its retries

Event types:
${WEBHOOK_EVENT_TYPES.map((type) => `  ${type}`).join('\n')}`,
    )
    .action(async (first, second, { secret: sources, set = [], body: file, fault: faults = [], ...options }) => {
      const [type, url] = positionals(first, second, file);
      if (options.dev !== undefined) {
        checkForDev(url, sources, faults, options);
        const event = await eventForDev(session, type, set, file);
        session.exitCode = await emitInto(session, parseTarget(String(options.dev)), event);
        return;
      }
      const target = url === undefined ? parseTarget() : parseApp(session, url);
      const [secret] = await readSecrets(session, sources);
      const body = file === undefined ? undefined : await session.read(file);
      const { attempt, count, concurrency, timeout, webhookId, headerPrefix } = options;
      const signing = { secret, attempt, webhookId, headerPrefix };

      const { signal, out } = session;
      const adviceOn = (answered: Answered) => diagnose(answered, { secret, headerPrefix, signal });
      let refused: Answered | undefined;

      async function* sendEvent(): AsyncGenerator<SendResult> {
        const { delivery, event } = createDelivery(type, set, body, signing);
        for (const sending of withFaults(delivery, faults)) {
          const sent = await deliverAsService(sending, target, { timeoutMs: timeout, signal });
          const answered = { ...sending, sent, url: target, at: Date.now() };
          const facts = { kind: 'sent', ...event, url: target.href, faults };
          if (!isAccepted(sent)) refused ??= answered;
          if (count > 1) out.record({ ...facts, ...sendFields(sent) });
          else reportSent(out, facts, sent, [event?.type, event?.id, target.href], await adviceOn(answered));
          yield sent;
        }
      }
      session.exitCode = exitCodeOf(await sendSeries(session, { count, concurrency }, sendEvent));
      if (count === 1 || refused === undefined) return;
      const advice = await adviceOn(refused);
      out.record({ kind: 'advice', ...advice }, ...adviceLines(advice));
    });
}

/** Accepts any word, which {@link positionals} checks; the choices are for the help and for completion. */
function typeArgument() {
  const argument = new Argument('[type]', 'the event type; may be left out with --body');
  argument.argChoices = [...WEBHOOK_EVENT_TYPES];
  return argument;
}

/** With a body, the only argument is the URL, unless it is an event type. @throws Failure */
function positionals(
  first?: string,
  second?: string,
  body?: string,
): [type: EventType | undefined, url: string | undefined] {
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === first);
  if (type !== undefined) return [type, second];
  if (body !== undefined && second === undefined) return [undefined, first];
  throw new Failure('usage', noEventType(first));
}

function noEventType(word: string | undefined): string {
  const types = `${WEBHOOK_EVENT_TYPES.join(', ')}; --body FILE sends anything else.`;
  if (word === undefined) return `no event type: ${types}`;
  const isAddress = /[:/]|^\d/.test(word);
  if (isAddress) return `the event type comes before the URL: send generation.completed ${word}. There are: ${types}`;
  const nearest = nearestName(word, WEBHOOK_EVENT_TYPES);
  if (nearest) return `${word} is no event type. Did you mean ${nearest}?`;
  return `${word} is no event type: ${types}`;
}

function createDelivery(
  type: EventType | undefined,
  settings: readonly string[],
  body: Uint8Array | undefined,
  signing: SigningOptions,
): { delivery: SignedDelivery; event?: { type: string; id: string } } {
  if (body !== undefined || type === undefined) return { delivery: signDelivery({ ...signing, body: body ?? '' }) };
  const event = sampleWith(type, settings);
  return { delivery: signDelivery({ ...signing, event }), event: { type: event.type, id: event.id } };
}

/** @throws Failure for an option that is about how a delivery is made, which is what dev does */
function checkForDev(
  url: string | undefined,
  sources: readonly string[] | undefined,
  faults: readonly string[],
  { attempt, count, webhookId }: { attempt: number; count: number; webhookId?: string | undefined },
): void {
  const given = [
    url !== undefined && 'the URL',
    sources && '--secret',
    faults.length > 0 && '--fault',
    attempt > 1 && '--attempt',
    count > 1 && '--count',
    webhookId !== undefined && '--webhook-id',
  ].filter((name) => typeof name === 'string');
  if (given.length > 0) throw new Failure('usage', `dev signs and delivers: leave ${given.join(', ')} out with --dev.`);
}

/** @throws Failure for a body that is no event */
async function eventForDev(session: Session, type: EventType | undefined, set: readonly string[], file?: string) {
  if (file === undefined && type !== undefined) return sampleWith(type, set);
  const bytes = await session.read(file ?? '');
  try {
    const event: unknown = JSON.parse(bytes.toString());
    if (typeof Object(event).type === 'string') return event as object;
  } catch {}
  throw new Failure('file', `${file}: no event, which is a JSON object with a type.`);
}
