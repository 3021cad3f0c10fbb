import { isAcknowledged } from 'service-webhooks/service';
import { shortened } from '../output.js';
import type { SendResult } from './deliver.js';
import { jsonFields } from './json-fields.js';

/** Marks what `listen` has passed on: a delivery to an app, and the answer of an app. */
export const LISTEN_HEADER = 'X-Service-Webhooks-Listen';

/**
 * Returns whether a receiver acknowledged a delivery. The service counts every 2xx, but no receiver answers with an HTML
 * page: a development server does, for any path.
 */
export function isAccepted(sent: SendResult): boolean {
  return isAcknowledged(sent) && sent.status !== undefined && pageOf(sent.body) === undefined;
}

/** Returns the words for an HTML page, with its title; undefined for any other body. */
export function pageOf(body: string): string | undefined {
  if (!/^\s*<(!doctype html|html)\b/i.test(body)) return undefined;
  const title = titleOf(body);
  return title === undefined ? 'an HTML page' : `an HTML page with the title "${title}"`;
}

/** Returns the title of an HTML page. */
export function titleOf(body: string): string | undefined {
  // The beginning alone: the time for a page of many unclosed titles grows with the square of its length.
  const title = /<title[^>]*>([^<]*)/i.exec(body.slice(0, 4_096))?.[1]?.trim();
  return title ? shortened(title, 60) : undefined;
}

/** Returns the code of the service's error object, which this library's receivers also answer with. */
export function answerCode(body: string): string | undefined {
  const { code } = Object(jsonFields(body)['error']);
  return typeof code === 'string' ? code : undefined;
}

/** Returns what an answer of a receiver says in one word: the code of its error, or the outcome. */
export function answerWord(body: string): string | undefined {
  const { outcome } = jsonFields(body);
  return answerCode(body) ?? (typeof outcome === 'string' ? outcome : undefined);
}

/** Returns whether a receiver of this library acknowledged an event that has no handler. */
export function noHandlerRan(sent: SendResult): boolean {
  return isAcknowledged(sent) && sent.status !== undefined && answerWord(sent.body) === 'ignored';
}

export const NO_HANDLER_RAN = 'acknowledged, no handler ran';
export const SOMETHING_ELSE = 'something else answered';
