import { isWebhookError } from 'service-webhooks';
import type { Advice } from '../../diagnosis/advice.js';
import { createDiagnosis } from '../../diagnosis/diagnose.js';
import { BRIEF_EFFORT } from '../../explain/effort.js';
import { type Cause, explainWithin } from '../../explain/explain.js';
import { answerWord } from '../../http/answer.js';
import type { HttpMessage } from '../../http/http-message.js';
import { explanation, type Output, type Piece, shortened, timeOfDay } from '../../output.js';
import { adviceLines, sendFields, sendPieces } from '../../send-report.js';
import type { Forwarded } from './answer.js';
import type { Handled } from './handle-request.js';
import { isRefused } from './inspection.js';
import type { ListenOptions } from './options.js';
import { createRateCap } from './request-limits.js';

/** Why a request is refused: by `listen`, whose secret has not signed it, or by the app that it was forwarded to. */
export interface Refusal {
  cause?: Cause | undefined;
  advice?: Advice | undefined;
}

/** Prints one line about a request, and below it why it or its delivery to the app was refused. */
export function report(
  out: Output,
  handled: Exclude<Handled, { kind: 'ignored' }>,
  arrived: { at: number; ms: number; path: string },
  { cause, advice }: Refusal,
) {
  const { at, ms, path } = arrived;
  const time = new Date(at).toISOString();
  const clock: Piece = ['faint', timeOfDay(at)];
  if (handled.kind === 'problem') {
    const { problem } = handled;
    const { code, message, hint } = problemFields(problem);
    const line: Piece[] = [clock, ['bad', message], shortened(path)];
    return out.record(
      { kind: 'problem', at: time, path, code, message, hint },
      line,
      ...(hint ? explanation(hint) : []),
    );
  }
  const { inspection, response, forwarded, others, capture } = handled;
  const { verdict, scheme, type, id, attempt, bytes } = inspection;
  const refused = isRefused(inspection);
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
      alsoForwarded: others?.map(({ url, sent }) => ({ url, ...sendFields(sent), fix: sent.fix })),
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
    ...(others ?? []).map(({ url, sent }): Piece[] => [
      '          →',
      url,
      ...sendPieces(sent),
      sent.problem,
      sent.fix,
    ]),
    ...(cause ? explanation(`${cause.cause} (${cause.certainty}): ${cause.evidence} ${cause.fix}`) : []),
    ...adviceLines(advice),
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

/** Returns what finds out why an app does not acknowledge a delivery. Never rejects. */
export function createAppAdvice(
  { secrets, checks, insecure }: Pick<ListenOptions, 'secrets' | 'checks' | 'insecure'>,
  signal: AbortSignal,
) {
  const diagnosis = createDiagnosis();
  const { headerPrefix = 'x-service' } = checks;
  const options = { secret: secrets?.[0], headerPrefix, insecure, signal };
  return ({ sent, url }: Forwarded, { headers, body }: HttpMessage, at: number): Promise<Advice | undefined> =>
    diagnosis({ headers, body, sent, url: new URL(url), at }, options).catch(() => undefined); // Ctrl+C
}
