import { BRIEF_EFFORT } from '../../../explain/effort.js';
import { type Cause, explainWithin } from '../../../explain/explain.js';
import type { HttpMessage } from '../../../wire/http-message.js';
import type { ListenOptions } from './options.js';
import { createRateCap } from './rate-cap.js';

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
