import { isAcknowledged } from 'service-webhooks/service';
import { type Advice, adviceText } from './diagnosis/advice.js';
import { EXIT, type ExitCode } from './failure.js';
import { answerCode, isAccepted, NO_HANDLER_RAN, noHandlerRan, pageOf, SOMETHING_ELSE } from './http/answer.js';
import type { SendResult } from './http/deliver.js';
import { explanation, type Output, type Piece, shortened } from './output.js';

/** Returns the result of a request as fields of a record. */
export function sendFields(sent: SendResult) {
  const { status = null, ms, problem } = sent;
  const acknowledged = isAccepted(sent);
  if (sent.status === undefined) return { status, acknowledged, ms, problem };
  return { status, acknowledged, ms, code: answerCode(sent.body), answer: shortened(sent.body, 2_000) };
}

/** Returns the result of a request as parts of a line. */
export function sendPieces(sent: SendResult): Piece[] {
  if (sent.status === undefined)
    return [
      ['bad', 'no answer'],
      ['faint', `${sent.ms} ms`],
    ];
  if (noHandlerRan(sent))
    return [
      ['warn', sent.status],
      ['warn', NO_HANDLER_RAN],
      ['faint', `${sent.ms} ms`],
    ];
  if (isAccepted(sent)) return [['good', sent.status], 'acknowledged', ['faint', `${sent.ms} ms`]];
  return [
    ['bad', sent.status],
    isAcknowledged(sent) ? SOMETHING_ELSE : 'not acknowledged',
    ['faint', `${sent.ms} ms`],
    answerCode(sent.body) ?? pageOf(sent.body) ?? shortened(sent.body),
  ];
}

/** Prints the result of a request, first its status, and below it why it was not acknowledged and what to do. */
export function reportSent(
  out: Output,
  facts: object,
  sent: SendResult,
  pieces: readonly Piece[],
  advice: Advice | undefined,
): void {
  out.record({ ...facts, ...sendFields(sent), advice }, [...sendPieces(sent), ...pieces], ...adviceLines(advice));
}

/** Returns the lines below that of {@link sendPieces}: the cause and the fix. */
export function adviceLines(advice: Advice | undefined): Piece[][] {
  return advice === undefined ? [] : explanation(adviceText(advice));
}

/** Returns `ok` where all were acknowledged. */
export function exitCodeOf(all: readonly SendResult[]): ExitCode {
  if (all.every(isAccepted)) return EXIT.ok;
  return all.some(({ status }) => status !== undefined) ? EXIT.no : EXIT.network;
}
