import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { check } from 'service-webhooks/option-checks';
import { ANSWER_TIMEOUT_MS, isAcknowledged, RETRY_WAITS_MS } from 'service-webhooks/service';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { type Advice, withAdvice } from '../../diagnosis/advice.js';
import { briefOf, inWords } from '../../diagnosis/brief.js';
import { diagnose } from '../../diagnosis/diagnose.js';
import { answerWord } from '../../http/answer.js';
import { deliver, deliverAsService } from '../../http/deliver.js';
import { type HttpMessage, headerValue, resign } from '../../http/http-message.js';
import { shortened } from '../../output.js';
import { headerText, isRecognised, judge, viewBody } from '../../page/attempt-details.js';
import type { AttemptDetails, AttemptRow, Change, DeliveryRow, PageSource } from '../../page/page-source.js';
import { signatureFault } from '../../signature-fault.js';
import { withPathOf } from '../../target.js';
import { type Inspection, inspect, isRefused } from './inspection.js';
import type { ListenOptions } from './options.js';
import { createReceivedLog, type KeptRequest, type Received } from './received-log.js';

/** Why a request is not signed again: its sender did not know the secret, and the app would accept it. */
const NOT_GENUINE =
  'your secret has not signed it, so anyone may have sent it: send it unchanged, or sign its capture with replay --sign-unverified';

/** The requests that `listen` has received, for the page. */
export interface ReceivedSource extends PageSource {
  add(received: Received): void;
  attempt(id: string): AttemptDetails | undefined;
  /** Sends the delivery again that was received last; a refused one as it came. Says what came of it, and why. */
  replayLast(): Promise<string>;
}

/** `ownUrl` is the address of `listen`: samples of the page go there, and replays where there is no app. */
export function createReceivedSource(options: ListenOptions, ownUrl: () => URL, signal: AbortSignal): ReceivedSource {
  const { routes, secrets, now, insecure } = options;
  const { headerPrefix = 'x-service' } = options.checks;
  const [secret] = secrets ?? [];
  const log = createReceivedLog();
  const watchers = new Set<(change: Change) => void>();
  let last: { deliveryId: string; isRefused: boolean } | undefined;
  const wire = { timeoutMs: ANSWER_TIMEOUT_MS, signal };
  const overview = () => ({
    ...{ now: now(), speed: 1, endpoints: [], failing: 0 },
    ...(log.total > log.deliveries.size && { total: log.total }),
  });
  const rowOf = (id: string) => toDeliveryRow(id, log.deliveries.get(id) ?? [], headerPrefix);

  /** Returns why no request of a delivery can be signed again. */
  function signingProblem(kept: readonly KeptRequest[]): string | undefined {
    if (secret === undefined) return 'there is no secret to sign it with: send the same bytes and headers';
    return kept.some(({ isSigned }) => isSigned) ? undefined : NOT_GENUINE;
  }

  function keep(request: Omit<KeptRequest, 'id' | 'isSigned'>, ofDelivery?: string): typeof last {
    const isSigned = secrets !== undefined && signatureFault(request.message, secrets, options.checks) === undefined;
    const { deliveryId, removed } = log.add({ ...request, isSigned }, ofDelivery);
    const change = { overview: overview(), deliveries: [rowOf(deliveryId)], removed };
    for (const changed of watchers) changed(change);
    return { deliveryId, isRefused: isRefused(request.inspection) };
  }

  async function replay(id: string, exact: boolean): Promise<{ said: string; advice: Advice | undefined }> {
    const kept = log.deliveries.get(id) ?? [];
    // The latest one may have the id of a genuine event without being one: any sender chooses it.
    const chosen = exact ? kept.at(-1) : kept.findLast(({ isSigned }) => isSigned);
    check(chosen !== undefined, (kept.length > 0 && signingProblem(kept)) || 'it is not kept any more');
    const { message: found, inspection: claimed } = chosen;
    const at = now();
    const headers = exact || secret === undefined ? found.headers : resign(found, { secret, at, headerPrefix });
    const [target] = routes.targets(claimed.type);
    const url = withPathOf(target ?? ownUrl(), found.path);
    const message = { ...found, headers: withHost(headers, url.host) };
    const sent = await deliver({ ...message, url, insecure }, wire);
    const response = sent.status === undefined ? { status: 0, headers: {}, body: '' } : sent;
    const { problem } = sent;
    // `listen` keeps requests to itself without this.
    const inspection = inspect(message, options);
    const advice = await diagnose({ ...message, sent, url, at: now() }, { secret, headerPrefix, insecure, signal });
    const again = {
      at,
      endedAt: now(),
      url: url.href,
      message,
      inspection,
      response,
      problem,
      advice,
      kind: 'replay' as const,
    };
    if (target) keep(again, id);
    return { said: `It was sent again: ${problem ?? sent.status}.`, advice };
  }

  async function send(name: string): Promise<string> {
    const type = WEBHOOK_EVENT_TYPES.find((known) => known === name);
    check(type !== undefined, 'type must be one of the service');
    const event = sampleEvent(type);
    const delivery = signDelivery({ secret: secret ?? 'there is none', event, headerPrefix });
    const { problem, status } = await deliverAsService(delivery, ownUrl(), wire);
    return `${type} was sent: ${problem ?? status}.`;
  }

  /** A request repeats another one where an attempt of the same number has come. */
  function kindOf({ inspection }: Received): KeptRequest['kind'] {
    const before = inspection.id === undefined ? [] : (log.deliveries.get(inspection.id) ?? []);
    const number = attemptNumber(inspection);
    const isRepeated = before.some((one) => one.kind === 'attempt' && attemptNumber(one.inspection) === number);
    return isRepeated ? 'duplicate' : 'attempt';
  }

  async function clear(): Promise<string> {
    const removed = log.clear();
    for (const changed of watchers) changed({ overview: overview(), deliveries: [], removed });
    return removed.length === 1 ? '1 delivery is cleared.' : `${removed.length} deliveries are cleared.`;
  }

  return {
    title: 'Deliveries received · service-webhooks listen',
    get start() {
      return {
        text: 'Send one to the address of listen:',
        command: `npx service-webhooks-cli send generation.completed ${ownUrl().href}`,
      };
    },
    add(received) {
      last = keep({ ...received, kind: kindOf(received) });
    },
    async replayLast() {
      if (last === undefined) return 'There is no delivery yet.';
      const { said, advice } = await replay(last.deliveryId, last.isRefused || secret === undefined);
      return withAdvice(said, advice);
    },
    snapshot: () => ({ overview: overview(), deliveries: [...log.deliveries.keys()].map(rowOf) }),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    delivery(id) {
      const kept = log.deliveries.get(id);
      if (kept === undefined) return undefined;
      const cannotSign = signingProblem(kept);
      return {
        ...{
          delivery: rowOf(id),
          attempts: kept.map(toAttemptRow),
          waits: RETRY_WAITS_MS,
          offers: ['replay'] as const,
        },
        ...(cannotSign && { cannotSign }),
      };
    },
    attempt(id) {
      const found = log.requests.get(id);
      return found && toAttemptDetails(found, options);
    },
    message(id) {
      const found = log.requests.get(id);
      return found && { ...found.message, url: found.url, at: found.at };
    },
    *attemptTexts() {
      for (const [delivery, kept] of log.deliveries) {
        for (const request of kept) for (const text of textsOf(request)) yield { delivery, text };
      }
    },
    actions: {
      replay: async ({ delivery, exact }) => (await replay(delivery, exact)).said,
      send: ({ type }) => send(type),
      clear,
    },
  };
}

/** Returns the headers with this host, because the request line of another host would be misleading. */
function withHost(headers: HttpMessage['headers'], host: string): HttpMessage['headers'] {
  return headers.map(([name, value]) => [name, name.toLowerCase() === 'host' ? host : value]);
}

/** Returns a delivery for the list of the page. */
export function toDeliveryRow(id: string, kept: readonly KeptRequest[], headerPrefix: string): DeliveryRow {
  const [first, last] = [kept[0] as KeptRequest, kept.at(-1) as KeptRequest];
  const { inspection, message, at } = first;
  const { verdict } = last.inspection;
  const rows = kept.map(toAttemptRow);
  return {
    id,
    eventId: inspection.id ?? '',
    // A request without an event is shown by its request line.
    type: inspection.type ?? shortened(`${message.method} ${message.path}`),
    endpointId: shortened(headerValue(message.headers, `${headerPrefix.toLowerCase()}-webhook-id`) ?? ''),
    state: rows.some(({ acknowledged }) => acknowledged) ? 'delivered' : 'failed',
    attempts: Math.max(...rows.map(({ number }) => number)),
    replays: kept.filter(({ kind }) => kind === 'replay').length,
    duplicates: kept.filter(({ kind }) => kind === 'duplicate').length,
    ...{ redeliveries: 0, test: false, createdAt: at },
    hasFailed: rows.some(({ acknowledged }) => !acknowledged),
    ...{ url: shortened(last.url, 500), verdict, cause: causeOf(last) },
    ...outcomeOf(last),
  };
}

/** Returns why a request was not acknowledged, in short. A forgery has causes of its own. */
function causeOf({ inspection, response, problem, advice, cause }: KeptRequest): string | undefined {
  if (problem !== undefined) return shortened(problem);
  if (!isRefused(inspection)) return advice && briefOf(advice.cause);
  if (isAcknowledged(response)) return briefOf('accepted_invalid');
  return inWords(cause?.cause ?? inspection.verdict);
}

/** Returns what can be searched in a request and its answer. */
function textsOf(request: KeptRequest): (string | Uint8Array)[] {
  const { inspection, message, response, url, problem, advice, cause } = request;
  const explained = [inspection.verdict, cause?.cause, cause?.evidence, advice?.cause, advice?.message, problem];
  const outcome = [url, response.status, causeOf(request), ...explained].join('\n');
  const answer = [headerText(Object.entries(response.headers)), response.body];
  return [outcome, headerText(message.headers), message.body, ...answer];
}

export function toAttemptRow(request: KeptRequest): AttemptRow {
  const { id, kind, at, endedAt, inspection, response, problem } = request;
  const number = attemptNumber(inspection);
  const acknowledged = problem === undefined && isAcknowledged(response);
  return {
    ...{ id, kind, at, endedAt, number, acknowledged, redelivery: 0, faults: [] },
    ...outcomeOf(request),
    ...isRecognised(response),
  };
}

/** As the request says; 1 where it says nothing that is a number. */
function attemptNumber({ attempt = '' }: Inspection): number {
  return /^[1-9]\d{0,5}$/.test(attempt) ? Number(attempt) : 1;
}

export function toAttemptDetails(
  request: KeptRequest,
  { secrets, checks }: Pick<ListenOptions, 'secrets' | 'checks'>,
): AttemptDetails {
  const { message, response, at, url, problem, advice } = request;
  const { method, headers, body } = message;
  const answer = {
    status: response.status,
    headers: Object.entries(response.headers),
    body: viewBody(Buffer.from(response.body)),
  };
  return {
    ...toAttemptRow(request),
    request: { method, url, headers, body: viewBody(body) },
    answer: problem === undefined ? answer : undefined,
    code: problem === undefined ? answerWord(response.body) : undefined,
    advice,
    verdict: judge({ headers, body, secret: secrets, at }, checks),
  };
}

function outcomeOf({ response, problem }: KeptRequest): Pick<AttemptRow, 'status' | 'problem'> {
  return problem === undefined ? { status: response.status } : { problem };
}
