import { headerValue } from '../../../http/http-message.js';
import { answerFacts, isRecognised, judge, viewBody } from '../../../page/attempt-details.js';
import type { AttemptDetails, AttemptRow, DeliveryRow, SentMessage } from '../../../page/page-source.js';
import { isAcknowledged } from '../../../service/acknowledged.js';
import { shortened } from '../../formatting.js';
import type { Inspection } from './inspection.js';
import type { ListenOptions } from './options.js';
import type { KeptRequest } from './received-log.js';

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
    ...{ url: shortened(last.url, 500), verdict, ...(last.cause && { cause: shortened(last.cause, 500) }) },
    ...outcomeOf(last),
  };
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
export function attemptNumber({ attempt = '' }: Inspection): number {
  return /^[1-9]\d{0,5}$/.test(attempt) ? Number(attempt) : 1;
}

export function toMessage({ message, url, at }: KeptRequest): SentMessage {
  return { ...message, url, at };
}

export function toAttemptDetails(
  request: KeptRequest,
  { secrets, checks }: Pick<ListenOptions, 'secrets' | 'checks'>,
): AttemptDetails {
  const { message, response, at, url, problem } = request;
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
    ...answerFacts(problem === undefined ? response : undefined, url),
    verdict: judge({ headers, body, secret: secrets, at }, checks),
  };
}

function outcomeOf({ response, problem }: KeptRequest): Pick<AttemptRow, 'status' | 'problem'> {
  return problem === undefined ? { status: response.status } : { problem };
}
