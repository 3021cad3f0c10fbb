import { judge } from '../../page/judge.js';
import type { AttemptDetails, AttemptRow, DeliveryRow } from '../../page/page-source.js';
import { viewBody } from '../../page/view-body.js';
import { headerValue } from '../http-file.js';
import type { ListenOptions } from './options.js';
import type { KeptRequest } from './received-log.js';

/** A delivery for the list of the page. */
export function toDeliveryRow(id: string, kept: readonly KeptRequest[], headerPrefix: string): DeliveryRow {
  const [first, last] = [kept[0] as KeptRequest, kept.at(-1) as KeptRequest];
  const { seen, message, at } = first;
  const rows = kept.map(toAttemptRow);
  return {
    id,
    eventId: seen.id ?? '',
    type: seen.type ?? '',
    endpointId: headerValue(message.headers, `${headerPrefix.toLowerCase()}-webhook-id`) ?? '',
    state: rows.some(({ acknowledged }) => acknowledged) ? 'delivered' : 'failed',
    attempts: Math.max(...rows.map(({ number }) => number)),
    replays: kept.filter(({ kind }) => kind === 'replay').length,
    ...{ redeliveries: 0, test: false, createdAt: at },
    ...outcomeOf(last),
  };
}

export function toAttemptRow(request: KeptRequest): AttemptRow {
  const { id, kind, at, endedAt, seen, response, problem } = request;
  const number = /^[1-9]\d{0,5}$/.test(seen.attempt ?? '') ? Number(seen.attempt) : 1;
  const acknowledged = problem === undefined && response.status >= 200 && response.status <= 299;
  return { ...{ id, kind, at, endedAt, number, acknowledged, redelivery: 0, faults: [] }, ...outcomeOf(request) };
}

export function toAttemptDetails(request: KeptRequest, { secrets, ...options }: ListenOptions): AttemptDetails {
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
    verdict: judge({ headers, body, secret: secrets, at }, options),
  };
}

function outcomeOf({ response, problem }: KeptRequest): Pick<AttemptRow, 'status' | 'problem'> {
  return problem === undefined ? { status: response.status } : { problem };
}
