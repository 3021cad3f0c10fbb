import { isAcknowledged } from 'service-webhooks/service';
import { EXIT, type ExitCode } from './failure.js';
import { answerAdvice, answerCode, NO_HANDLER_RAN, noHandlerRan } from './http/answer.js';
import type { SendResult } from './http/deliver.js';
import { type Piece, shortened } from './output.js';

/** Returns the result of a request as fields of a record. */
export function sendFields(sent: SendResult) {
  const { status = null, ms, problem } = sent;
  const acknowledged = isAcknowledged(sent);
  if (sent.status === undefined) return { status, acknowledged, ms, problem };
  return { status, acknowledged, ms, code: answerCode(sent.body), answer: shortened(sent.body, 2_000) };
}

/** Returns the result of a request as parts of a line; with `url`, a refusal without a code is explained. */
export function sendPieces(sent: SendResult, url?: URL): Piece[] {
  if (sent.status === undefined) return [['bad', 'no answer'], sent.problem, ['faint', `${sent.ms} ms`]];
  if (noHandlerRan(sent))
    return [
      ['warn', sent.status],
      ['warn', NO_HANDLER_RAN],
      ['faint', `${sent.ms} ms`],
    ];
  if (isAcknowledged(sent)) return [['good', sent.status], 'acknowledged', ['faint', `${sent.ms} ms`]];
  const where = sent.headers['location'];
  const advice = url && where === undefined ? answerAdvice(sent, url) : undefined;
  const answer = answerCode(sent.body) ?? (advice ? `${advice.message} ${advice.fix}` : shortened(sent.body));
  return [
    ['bad', sent.status],
    'not acknowledged',
    ['faint', `${sent.ms} ms`],
    answer,
    where && `Redirects are not followed: send to ${shortened(where)}.`,
  ];
}

/** Returns `ok` where all were acknowledged. */
export function exitCodeOf(all: readonly SendResult[]): ExitCode {
  if (all.every(isAcknowledged)) return EXIT.ok;
  return all.some(({ status }) => status !== undefined) ? EXIT.no : EXIT.network;
}
