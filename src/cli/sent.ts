import type { Sent } from './deliver.js';
import { EXIT, type ExitCode } from './failure.js';
import type { Piece } from './output.js';
import { shortened } from './printable.js';

/** 2xx (specification, section 6.3). */
export function isAcknowledged({ status = 0 }: Sent): boolean {
  return status >= 200 && status <= 299;
}

/** What came of a request, as fields of a record. */
export function sentFields(sent: Sent) {
  const { status = null, ms, problem } = sent;
  const acknowledged = isAcknowledged(sent);
  if (sent.status === undefined) return { status, acknowledged, ms, problem };
  return { status, acknowledged, ms, code: errorCode(sent.body), answer: shortened(sent.body, 2_000) };
}

/** The same as parts of a line. */
export function sentPieces(sent: Sent): Piece[] {
  if (sent.status === undefined) return [['bad', 'no answer'], sent.problem, ['faint', `${sent.ms} ms`]];
  if (isAcknowledged(sent)) return [['good', sent.status], 'acknowledged', ['faint', `${sent.ms} ms`]];
  const answer = errorCode(sent.body) ?? shortened(sent.body);
  const where = sent.headers['location'];
  return [
    ['bad', sent.status],
    'not acknowledged',
    ['faint', `${sent.ms} ms`],
    answer,
    where && `Redirects are not followed: send to ${shortened(where)}.`,
  ];
}

/** Whether all were acknowledged. */
export function exitCodeOf(all: readonly Sent[]): ExitCode {
  if (all.every(isAcknowledged)) return EXIT.ok;
  return all.some(({ status }) => status !== undefined) ? EXIT.no : EXIT.network;
}

/** Of the service's error object, which the library answers with too. */
export function errorCode(body: string): string | undefined {
  let code: unknown;
  try {
    code = JSON.parse(body).error.code;
  } catch {}
  return typeof code === 'string' ? code : undefined;
}
