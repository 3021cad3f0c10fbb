import { isWebhookError } from '../../errors.js';
import type { Output, Piece } from '../output.js';
import { shortened } from '../printable.js';
import { errorCode, sentFields, sentPieces } from '../sent.js';
import type { Taken } from './intake.js';
import type { ListenOptions } from './options.js';
import { mainCause } from './seen.js';

/** One line about a request; where it is refused, another one that says why. */
export function report(
  out: Output,
  taken: Taken,
  arrived: { at: number; ms: number; path: string },
  options: ListenOptions,
) {
  const { at, ms, path } = arrived;
  const time = new Date(at).toISOString();
  const clock: Piece = ['faint', time.slice(11, 19)];
  if ('problem' in taken) {
    const { problem } = taken;
    const message = problem instanceof Error ? problem.message : String(problem);
    const hint = isWebhookError(problem) ? problem.hint : undefined;
    return out.record({ kind: 'problem', at: time, path, message, hint }, [
      clock,
      ['bad', message],
      hint,
      shortened(path),
    ]);
  }
  const { seen, message, response, forwarded, capture } = taken;
  const { verdict, scheme, type, id, attempt, bytes } = seen;
  const refused = verdict !== 'verified' && verdict !== 'unverified';
  const cause = refused ? mainCause(message, options) : undefined;
  const outcome = forwarded ? undefined : outcomeOf(response.body);
  const style = verdict === 'verified' ? 'good' : refused ? 'bad' : 'warn';
  const answer: Piece[] = forwarded
    ? ['→', ...sentPieces(forwarded.sent)]
    : [response.status, outcome === verdict ? undefined : outcome, ['faint', `${ms} ms`]];
  out.record(
    {
      kind: 'delivery',
      at: time,
      path,
      ...seen,
      status: response.status,
      outcome,
      ms,
      forwarded: forwarded && { url: forwarded.url, ...sentFields(forwarded.sent) },
      capture: capture?.id,
      file: capture?.file,
      cause,
    },
    [
      clock,
      [style, scheme ? `${verdict} ${scheme}` : verdict],
      shortened(type ?? 'no event', 60),
      id && shortened(id, 60),
      attempt && `attempt ${shortened(attempt, 10)}`,
      ['faint', `${bytes} B`],
      ...answer,
      capture && ['faint', capture.id],
    ],
    ...(cause ? [[`          ${cause.cause} (${cause.certainty}): ${cause.evidence} ${cause.fix}`]] : []),
  );
}

function outcomeOf(body: string): string | undefined {
  try {
    return errorCode(body) ?? JSON.parse(body).outcome;
  } catch {
    return undefined;
  }
}
