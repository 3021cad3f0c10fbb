import type { IncomingMessage } from 'node:http';
import { isWebhookError } from 'service-webhooks';
import { check } from 'service-webhooks/option-checks';
import { reasonOf } from '../../failure.js';
import { jsonFields } from '../../http/json-fields.js';
import { readBody } from '../../http/read-body.js';
import { type ChangeKind, type LetterChoice, MAX_TEXT, MOST_ROWS, type QueueSource } from '../queue-source.js';

const MAX_REQUEST_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 5_000;
const USUAL_ROWS = 100;

/** What a request is answered with. */
export interface QueueAnswer {
  status: number;
  json: object;
}

type Route = (source: QueueSource, input: Input) => Promise<object | undefined> | object | undefined;
/** The fields of a query or of a JSON body. */
type Input = Readonly<Record<string, unknown>>;

const READS: Readonly<Record<string, Route>> = {
  state: (source) => source.state(),
  letters: (source, input) =>
    source.letters(choiceIn(input), {
      offset: numberIn(input, 'offset') ?? 0,
      limit: Math.min(numberIn(input, 'limit') ?? USUAL_ROWS, MOST_ROWS),
    }),
  jobs: (source, { state }) => {
    check(state === 'waiting' || state === 'running', 'state must be waiting or running');
    return source.jobs(state);
  },
  letter: (source, input) => source.letter(needed(input, 'handle')),
};

const CHANGES: Readonly<Record<string, Route>> = {
  retry: (source, input) => change(source, 'retry', input),
  discard: (source, input) => change(source, 'discard', input),
  cancel(source, input) {
    source.cancel(needed(input, 'operation'));
    return { done: 'Cancelled.' };
  },
  dismiss(source, input) {
    source.dismiss(needed(input, 'operation'));
    return { done: 'Removed from the page.' };
  },
  refresh(source) {
    source.refresh();
    return { done: 'Reading the dead letters again.' };
  },
};

/** Answers a request below `/page/queue/` that the guard has let through: GET reads, and POST changes something. */
export async function answerQueue(source: QueueSource, req: IncomingMessage): Promise<QueueAnswer> {
  const { pathname, searchParams } = new URL(req.url ?? '', 'http://page');
  const name = pathname.replace('/page/queue/', '');
  const [reads, changes] = [READS, CHANGES].map((routes) => (Object.hasOwn(routes, name) ? routes[name] : undefined));
  const isRight = reads ? req.method === 'GET' : req.method === 'POST';
  if (reads === undefined && changes === undefined) return notThere;
  if (!isRight) return { status: 405, json: { error: `${req.method} is not for ${pathname}` } };
  try {
    const input = reads ? Object.fromEntries(searchParams) : await bodyOf(req);
    const json = await (reads ?? changes)?.(source, input);
    return json === undefined ? notThere : { status: 200, json };
  } catch (error) {
    if (!isWebhookError(error)) return { status: statusOf(error), json: { error: reasonOf(error) } };
    return { status: error.code === 'invalid_option' ? 400 : error.status, json: { error: error.problem } };
  }
}

const notThere: QueueAnswer = { status: 404, json: { error: 'It is not in the queue any more, or never was.' } };

/** 409 for what cannot be done now, and 502 for an engine that does not answer. */
function statusOf(error: unknown): number {
  return Object(error).exitCode === 2 ? 409 : 502;
}

async function bodyOf(req: IncomingMessage): Promise<Input> {
  const body = await readBody(req, { maxBytes: MAX_REQUEST_BYTES, timeoutMs: REQUEST_TIMEOUT_MS });
  return jsonFields(body);
}

async function change(source: QueueSource, kind: ChangeKind, input: Input): Promise<object> {
  const choice = choiceIn(input);
  const isNamed = choice.letter !== undefined || choice.group !== undefined || (choice.text ?? '') !== '';
  check(isNamed || input['all'] === true, 'say which ones: letter, group, text or all');
  const { shown } = input;
  const isKnown = choice.letter !== undefined || (typeof shown === 'string' && shown.length <= MAX_TEXT);
  check(isKnown, 'shown must be the digest of the letters that the page shows');
  return { done: await source.change(kind, choice, shown as string | undefined) };
}

/** @throws WebhookError `invalid_option` */
function choiceIn(input: Input): LetterChoice {
  const { group, text, bodies } = input;
  for (const [name, value] of Object.entries({ group, text }))
    check(
      value === undefined || (typeof value === 'string' && value.length <= MAX_TEXT),
      `${name} must be a short text`,
    );
  return {
    letter: numberIn(input, 'letter'),
    group: group as string | undefined,
    text: text as string | undefined,
    bodies: bodies === true || bodies === 'true',
  };
}

/** @throws WebhookError `invalid_option` */
function needed(input: Input, name: string): number {
  const number = numberIn(input, name);
  check(number !== undefined, `${name} must be a number`);
  return number;
}

/** @throws WebhookError `invalid_option` */
function numberIn(input: Input, name: string): number | undefined {
  const value = input[name];
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  check(Number.isSafeInteger(number) && (number as number) >= 0, `${name} must be a number`);
  return number as number;
}
