import type { ReadAnswer } from './answer-by-route.js';
import { isResponse, readResponse } from './fetch-api.js';

const HTTP_RESPONSE: unique symbol = Symbol.for('h3.HTTPResponse');
const NOT_FOUND: unique symbol = Symbol.for('h3.notFound');

/** Reads an answer as h3 2 does. `status` is the status that the route has set for data. */
export function readH3Answer(answer: unknown, status = 200): ReadAnswer<unknown> {
  if (answer instanceof Error) return { status: 500, error: answer };
  if (answer === NOT_FOUND) return { status: 404 };
  if (isResponse(answer)) return readResponse(answer);
  if (isHttpResponse(answer)) {
    const replace = (body: unknown) => Object.assign(answer, { body });
    return { status: answer.status ?? status, stream: { body: answer.body, replace } };
  }
  if (isData(answer)) return { status, json: answer };
  return { status, stream: { body: answer, replace: (body) => body } };
}

function isHttpResponse(answer: unknown): answer is { status?: number; body: unknown } {
  return (answer as { [HTTP_RESPONSE]?: unknown } | undefined | null)?.[HTTP_RESPONSE] === true;
}

/** Returns whether h3 sends an answer as JSON: a list, a plain object, or an object with `toJSON()`. */
function isData(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { toJSON, pipe, pipeTo } = answer as { toJSON?: unknown; pipe?: unknown; pipeTo?: unknown };
  if (typeof toJSON === 'function' || Array.isArray(answer)) return true;
  const prototype: unknown = Object.getPrototypeOf(answer);
  const isPlain = prototype === Object.prototype || prototype === null;
  return isPlain && typeof pipe !== 'function' && typeof pipeTo !== 'function';
}
