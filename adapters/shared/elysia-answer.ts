import type { ReadAnswer } from './answer-by-route.js';
import { isResponse, readResponse } from './fetch-api.js';

/**
 * Resolves an answer as Elysia does before it sends it: a function is called, an object with `toResponse()` is asked, and
 * a generator runs to its first value.
 */
export async function resolveElysiaAnswer(answer: unknown): Promise<unknown> {
  const { next, toResponse } = (answer ?? {}) as Partial<AsyncGenerator> & { toResponse?: unknown };
  if (typeof answer === 'function') return resolveElysiaAnswer(await answer());
  if (isData(answer)) return answer;
  if (isStatusAnswer(answer)) {
    return Object.assign(answer, { response: await resolveElysiaAnswer(await answer.response) });
  }
  if (typeof next === 'function') return started(answer as AsyncGenerator);
  if (typeof toResponse === 'function') return resolveElysiaAnswer(await toResponse.call(answer));
  return answer;
}

/** Reads a resolved answer as Elysia does: `set.status` counts unless the answer has its own. */
export function readElysiaAnswer(answer: unknown, status: number | string = 200): ReadAnswer<unknown> {
  if (answer instanceof Error) return { status: status === 200 ? 500 : statusByName(status), error: answer };
  if (isResponse(answer)) {
    const read = readResponse(answer);
    return { ...read, status: read.status === 200 ? statusByName(status) : read.status };
  }
  if (isStatusAnswer(answer)) {
    const { stream, ...read } = readElysiaAnswer(answer.response, answer.code);
    if (!stream) return read;
    const replace = (body: unknown) => Object.assign(answer, { response: stream.replace(body) });
    return { ...read, stream: { body: stream.body, replace } };
  }
  if (isData(answer)) return { status: statusByName(status), json: answer };
  return { status: statusByName(status), stream: { body: answer, replace: (body) => body } };
}

/** Runs a generator to its first value, with which it may set a status, or to an answer that it returns. */
async function started(generator: AsyncGenerator): Promise<unknown> {
  const { next } = generator;
  const first = await next.call(generator);
  if (first.done) return resolveElysiaAnswer(first.value);
  if (first.value instanceof ReadableStream) return first.value;
  let isFirst = true;
  const nextOrFirst = () => {
    if (!isFirst) return next.call(generator);
    isFirst = false;
    return first;
  };
  return Object.assign(generator, { next: nextOrFirst });
}

/** Elysia knows a class by its name, and sends plain objects and lists as JSON, whatever methods they have. */
const nameOf = (answer: unknown) => (answer as object | undefined | null)?.constructor?.name;

function isData(answer: unknown): boolean {
  return nameOf(answer) === 'Object' || nameOf(answer) === 'Array';
}

/** Returns whether an answer is the result of `status(…)`, and not data with the same fields. */
function isStatusAnswer(answer: unknown): answer is { code: number; response: unknown } {
  return nameOf(answer) === 'ElysiaCustomStatusResponse';
}

/** Elysia's names of the statuses from 200 to 299. */
const SUCCESSES = [
  'OK',
  'Created',
  'Accepted',
  'Non-Authoritative Information',
  'No Content',
  'Reset Content',
  'Partial Content',
  'Multi-Status',
  'Already Reported',
];

function statusByName(status: number | string): number {
  if (typeof status === 'number') return status;
  return SUCCESSES.includes(status) ? 200 : 500;
}
