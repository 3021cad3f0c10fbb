import { isWebhookError } from 'service-webhooks';
import { BRIEF_EFFORT } from '../../explain/effort.js';
import { type Cause, explainWithin } from '../../explain/explain.js';
import { answerAdvice, answerWord } from '../../http/answer.js';
import type { HttpMessage } from '../../http/http-message.js';
import { type Output, type Piece, shortened, timeOfDay } from '../../output.js';
import { sendFields, sendPieces } from '../../send-report.js';
import type { Handled } from './handle-request.js';
import { isRefused } from './inspection.js';
import type { ListenOptions } from './options.js';
import { createRateCap } from './request-limits.js';

/** Prints one line about a request, and for a refusal another one with the cause. */
export function report(
  out: Output,
  handled: Exclude<Handled, { kind: 'ignored' }>,
  arrived: { at: number; ms: number; path: string },
  cause: Cause | undefined,
) {
  const { at, ms, path } = arrived;
  const time = new Date(at).toISOString();
  const clock: Piece = ['faint', timeOfDay(at)];
  if (handled.kind === 'problem') {
    const { problem } = handled;
    const { code, message, hint } = problemFields(problem);
    return out.record({ kind: 'problem', at: time, path, code, message, hint }, [
      clock,
      ['bad', message],
      hint,
      shortened(path),
    ]);
  }
  const { inspection, response, forwarded, others, capture } = handled;
  const { verdict, scheme, type, id, attempt, bytes } = inspection;
  const refused = isRefused(inspection);
  const advice = forwarded && answerAdvice(forwarded.sent, new URL(forwarded.url));
  const outcome = forwarded ? undefined : answerWord(response.body);
  const style = verdict === 'verified' ? 'good' : refused ? 'bad' : 'warn';
  const answer: Piece[] = forwarded
    ? ['→', ...sendPieces(forwarded.sent)]
    : [response.status, outcome === verdict ? undefined : outcome, ['faint', `${ms} ms`]];
  out.record(
    {
      kind: 'delivery',
      at: time,
      path,
      ...inspection,
      status: response.status,
      outcome,
      ms,
      forwarded: forwarded && { url: forwarded.url, ...sendFields(forwarded.sent) },
      alsoForwarded: others?.map(({ url, sent }) => ({ url, ...sendFields(sent) })),
      capture: capture?.id,
      file: capture?.file,
      advice,
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
    ...(others ?? []).map(({ url, sent }): Piece[] => ['          →', url, ...sendPieces(sent)]),
    ...(advice ? [[`          ${advice.message} ${advice.fix}`]] : []),
    ...(cause ? [[`          ${cause.cause} (${cause.certainty}): ${cause.evidence} ${cause.fix}`]] : []),
  );
}

function problemFields(problem: unknown): { code?: string; message: string; hint?: string } {
  if (isWebhookError(problem)) return { code: problem.code, message: problem.problem, hint: problem.hint };
  return { message: problem instanceof Error ? problem.message : String(problem) };
}

/** Returns the most certain cause of a refusal; undefined where none is found or the limits are reached. */
export type Explainer = (message: HttpMessage) => Cause | undefined;

/** Limits, because an explanation blocks every other request and any sender can cause one. */
export const EXPLANATIONS = { count: 10, bytes: 512 * 1024, windowMs: 10_000, maxBodyBytes: 64 * 1024 };

export function createExplainer({
  secrets,
  checks,
  now,
}: Pick<ListenOptions, 'secrets' | 'checks' | 'now'>): Explainer {
  const cap = createRateCap({ ...EXPLANATIONS, now: () => performance.now() });
  return ({ headers, body }) => {
    if (body.length > EXPLANATIONS.maxBodyBytes || !cap.take(body.length)) return undefined;
    return explainWithin(BRIEF_EFFORT, { ...checks, now, headers, body, secret: secrets }).causes[0];
  };
}
