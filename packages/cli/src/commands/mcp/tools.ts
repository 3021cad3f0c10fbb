import { ERRORS, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { check, checkChoice, checkKnownOptions } from 'service-webhooks/option-checks';
import { ANSWER_TIMEOUT_MS, isAcknowledged } from 'service-webhooks/service';
import { type Emulator, FAULT_NAMES } from 'service-webhooks-emulator';
import { ADVICE, isErrorCode, type RefusalCause } from '../../diagnosis/advice.js';
import { FIXES } from '../../explain/causes.js';
import { shortened } from '../../output.js';
import type { AttemptDetails } from '../../page/page-source.js';
import { untilAborted } from '../../session.js';
import type { Dev, DevOptions } from '../dev/start-dev.js';
import { DIAGNOSES, type Diagnosis, isOwnDiagnosis } from '../doctor/diagnoses.js';
import { examine } from '../doctor/examine.js';
import { chosenProbes, PROBES } from '../doctor/probes.js';
import { createRequests } from '../doctor/requests.js';
import type { Tool } from './mcp-server.js';
import { type Facts, type OwnText, own, ownAddress, ownId, ownProbe, ownTime, type Results } from './tool-result.js';

export interface ToolsOptions extends Pick<DevOptions, 'app' | 'signingSecret' | 'headerPrefix'> {
  dev: Dev;
  result: Results['done'];
}

const MAX_TEXT = 8_000;
const MAX_WAIT_SECONDS = 120;
const DELIVERY = { type: 'string', description: 'Id of a delivery, as send and get return it.' };

/** The tools of `mcp`: each is one call of `dev`, of its page, or of `doctor`. */
export function createTools({ dev, app, signingSecret, headerPrefix, result }: ToolsOptions): readonly Tool[] {
  const { emulator, source } = dev;

  const detailsOf = (id: string) => {
    const found = source.delivery(id);
    check(found !== undefined, `delivery ${shortened(id, 60)} is not known: get lists those that are`);
    return found;
  };
  const latestAttempt = async (id: string): Promise<AttemptDetails | undefined> => {
    const last = detailsOf(id).attempts.at(-1);
    return last && source.attempt(last.id);
  };
  const factsOf = (given: string): Facts => {
    const { delivery, attempts } = detailsOf(given);
    const { id, state, nextAt, endpointId } = delivery;
    const nextAttemptAt = nextAt === undefined ? undefined : ownTime(nextAt);
    const tried = attempts.map(({ number, kind, at, endedAt, status, acknowledged, faults: names }) => {
      const faults = FAULT_NAMES.filter((name) => names.includes(name)).map((name) => own(name));
      return { number, kind: own(kind), at: ownTime(at), ms: endedAt - at, status, acknowledged, faults };
    });
    return { delivery: ownId(id), state: own(state), endpoint: ownId(endpointId), nextAttemptAt, attempts: tried };
  };
  const wordsOf = (attempt: AttemptDetails | undefined) =>
    attempt && {
      request: { ...attempt.request, body: shortened(attempt.request.body.text, MAX_TEXT) },
      answer: attempt.answer && { ...attempt.answer, body: shortened(attempt.answer.body.text, MAX_TEXT) },
      problem: attempt.problem,
    };

  return [
    {
      name: 'send',
      description:
        'Emits an event of the service. It is signed and delivered to the app, with the retries of the service.',
      inputSchema: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: WEBHOOK_EVENT_TYPES },
          data: { type: 'object', description: 'Fields of data, in addition to those of a sample.' },
          id: { type: 'string', description: 'Id of the event, evt_…; a new one.' },
          jobId: { type: ['string', 'null'] },
        },
        required: ['type'],
      },
      async call(input) {
        checkKnownOptions('send', input, ['type', 'data', 'id', 'jobId']);
        const { type, ...overrides } = input;
        checkChoice('type', type, WEBHOOK_EVENT_TYPES);
        const { event, deliveries } = await emulator.emit(String(type), overrides);
        const note = deliveries.length === 0 ? own('no endpoint gets this type') : undefined;
        return result({ deliveries: deliveries.map(({ id }) => ownId(id)), note }, { event: event.id });
      },
    },
    {
      name: 'wait_for',
      description: 'Waits until a delivery is delivered, dead or lost, or until so many of its attempts have ended.',
      inputSchema: {
        type: 'object',
        properties: {
          delivery: DELIVERY,
          attempts: { type: 'integer', minimum: 1, description: 'Return after so many attempts; default: the end.' },
          timeoutSeconds: { type: 'number', maximum: MAX_WAIT_SECONDS, description: 'Default: 30.' },
        },
        required: ['delivery'],
      },
      async call(input, signal) {
        checkKnownOptions('wait_for', input, ['delivery', 'attempts', 'timeoutSeconds']);
        const { attempts = Number.POSITIVE_INFINITY, timeoutSeconds = 30 } = input;
        const seconds = Number(timeoutSeconds);
        check(seconds > 0 && seconds <= MAX_WAIT_SECONDS, `timeoutSeconds must be from 0 to ${MAX_WAIT_SECONDS}`);
        check(Number(attempts) >= 1, 'attempts must be 1 or more');
        const id = String(input['delivery']);
        detailsOf(id);
        const stop = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
        const isOver = await waitForDelivery(emulator, id, Number(attempts), stop);
        return result({ ...factsOf(id), timedOut: !isOver }, wordsOf(await latestAttempt(id)));
      },
    },
    {
      name: 'get',
      description:
        'One delivery with its attempts and the latest request and answer; without an id, the latest deliveries.',
      inputSchema: { type: 'object', properties: { delivery: DELIVERY } },
      async call(input) {
        checkKnownOptions('get', input, ['delivery']);
        const { delivery: id } = input;
        if (id !== undefined) return result(factsOf(String(id)), wordsOf(await latestAttempt(String(id))));
        const { overview, deliveries } = source.snapshot();
        const latest = deliveries.slice(-20).toReversed();
        const endpoints = overview.endpoints.map(({ id, state, deadInARow, pausesAfter }) => {
          return { id: ownId(id), state: own(state), deadInARow, pausesAfter };
        });
        const rows = latest.map(({ id, state, attempts, status }) => {
          return { delivery: ownId(id), state: own(state), attempts, status };
        });
        const urls = overview.endpoints.map(({ id, url }) => ({ endpoint: id, url: shortened(url) }));
        const events = latest.map(({ id, type, eventId }) => ({ delivery: id, type, eventId: shortened(eventId) }));
        const facts = { page: ownAddress(dev.url), endpoints, total: deliveries.length, deliveries: rows };
        return result(facts, { urls, events });
      },
    },
    {
      name: 'explain',
      description:
        'Why the latest attempt of a delivery was refused: the verdict on its signature, and what the app’s answer means.',
      inputSchema: { type: 'object', properties: { delivery: DELIVERY }, required: ['delivery'] },
      async call(input) {
        checkKnownOptions('explain', input, ['delivery']);
        const attempt = await latestAttempt(String(input['delivery']));
        check(attempt !== undefined, 'there is no attempt of it yet: wait_for waits for one');
        const { verdict: judged, answer, advice } = attempt;
        const signature = {
          verdict: own(judged.verdict),
          causes: judged.causes.map(({ cause, certainty }) => {
            return { cause: own(cause), certainty: own(certainty), fix: own(FIXES[cause]) };
          }),
        };
        const evidence = judged.causes.map(({ cause, evidence }) => ({ cause, evidence }));
        const facts = {
          acknowledged: answer !== undefined && isAcknowledged(answer),
          status: answer?.status,
          ...{ signature, advice: advice && adviceOf(advice.cause) },
        };
        return result(facts, { evidence, advice, ...wordsOf(attempt) });
      },
    },
    {
      name: 'replay',
      description:
        'Sends the latest attempt of a delivery again at once, signed again; exact sends the bytes and headers as they were.',
      inputSchema: {
        type: 'object',
        properties: { delivery: DELIVERY, exact: { type: 'boolean' } },
        required: ['delivery'],
      },
      async call(input) {
        checkKnownOptions('replay', input, ['delivery', 'exact']);
        const { delivery, exact = false } = input;
        checkChoice('exact', exact, [true, false]);
        const id = String(delivery);
        await source.actions.replay?.({ delivery: id, exact: exact === true });
        return result(factsOf(id), wordsOf(await latestAttempt(id)));
      },
    },
    {
      name: 'doctor',
      description:
        'Sends good and hostile deliveries to the app, and says which of them it handles correctly. Its handlers run.',
      inputSchema: {
        type: 'object',
        properties: { only: { type: 'array', items: { type: 'string', enum: PROBES.map(({ name }) => name) } } },
      },
      async call(input, signal) {
        checkKnownOptions('doctor', input, ['only']);
        const { only } = input;
        check(only === undefined || Array.isArray(only), 'only must be a list of probes');
        check(app !== undefined && signingSecret !== undefined, 'mcp was started without an app: name its port or URL');
        const found = [];
        const said: Record<string, string> = {};
        const wire = { url: app, secret: signingSecret, headerPrefix, timeoutMs: ANSWER_TIMEOUT_MS, signal };
        for await (const probe of examine(chosenProbes(only), createRequests(signingSecret, headerPrefix), wire)) {
          const { verdict, diagnosis, evidence, fix: detailed } = probe;
          const { name, says, fix } = ownProbe(probe.name);
          const isGood = verdict === 'passed' || verdict === 'skipped';
          found.push({ name, says, verdict: own(verdict), ...(!isGood && diagnosisOf(diagnosis, fix)) });
          if (!isGood) said[name] = shortened(diagnosis ? `${evidence}. ${detailed}` : evidence, MAX_TEXT);
        }
        return result({ probes: found }, { evidence: said });
      },
    },
    {
      name: 'advance_time',
      description:
        'Lets time pass for the waits between attempts, so that retries that become due start at once. Clocks and signatures keep the real time.',
      inputSchema: {
        type: 'object',
        properties: { seconds: { type: 'number', description: 'The waits are 30, 120, 600, 3600 and 14400 seconds.' } },
        required: ['seconds'],
      },
      async call(input) {
        checkKnownOptions('advance_time', input, ['seconds']);
        check(typeof input['seconds'] === 'number', 'seconds must be a number');
        await emulator.advance(input['seconds'] * 1_000);
        return result({ advancedSeconds: input['seconds'] });
      },
    },
  ];
}

/** Returns the advice on a refusal without its details, such as a Location, which the app has chosen. */
function adviceOf(name: RefusalCause): Facts {
  const cause = own(name);
  if (isErrorCode(name)) return { cause, message: own(ERRORS[name].message), fix: own(ERRORS[name].hint) };
  const { message, fix } = ADVICE[name];
  return { cause, message: own(message), fix: own(fix) };
}

/** Returns what to do about a probe that did not pass: the gate has a diagnosis, and the others the fix of the probe. */
function diagnosisOf(diagnosis: Diagnosis | undefined, fix: OwnText): Facts {
  if (diagnosis === undefined) return { fix };
  return isOwnDiagnosis(diagnosis) ? { fix: own(DIAGNOSES[diagnosis]) } : adviceOf(diagnosis);
}

/** Returns whether the delivery is over, or has so many attempts, before `stop` is aborted. */
async function waitForDelivery(
  { attempts, deliveries }: Emulator,
  id: string,
  count: number,
  stop: AbortSignal,
): Promise<boolean> {
  const isOver = () => {
    const state = deliveries.get(id)?.state;
    const isEnded = state === 'delivered' || state === 'dead' || state === 'lost';
    return isEnded || attempts.list({ deliveryId: id }).length >= count;
  };
  const ended = attempts[Symbol.asyncIterator]();
  const stopped = untilAborted(stop);
  while (!isOver() && !stop.aborted) {
    // Every attempt that ends is a reason to look again.
    const next = await Promise.race([ended.next(), stopped]);
    if (next?.done) break;
  }
  void ended.return?.();
  return isOver();
}
