import type { IncomingMessage } from 'node:http';
import { isWebhookError } from 'service-webhooks';
import { check } from 'service-webhooks/option-checks';
import { readBody } from '../../http/read-body.js';
import type { ActionInputs, ActionName, PageSource } from '../page-source.js';

/** The inputs of each action, as JSON. */
const FIELDS: { readonly [Name in ActionName]: { readonly [Field in keyof ActionInputs[Name]]: string } } = {
  redeliver: { delivery: 'string' },
  replay: { delivery: 'string', exact: 'boolean' },
  redeliverDead: {},
  send: { type: 'string' },
  emit: { event: 'string' },
  failNext: { count: 'number' },
  pause: { endpoint: 'string' },
  enable: { endpoint: 'string' },
  advance: { ms: 'number' },
  clear: {},
};

const MAX_ACTION_BYTES = 64 * 1024;
const ACTION_TIMEOUT_MS = 5_000;

/** Runs the action that a request asks for, and returns the answer; undefined for a name that no action has. */
export async function answerAction(
  source: PageSource,
  name: string,
  req: IncomingMessage,
): Promise<{ status: number; json: object } | undefined> {
  if (!isAction(name)) return undefined;
  try {
    const body = await readBody(req, { maxBytes: MAX_ACTION_BYTES, timeoutMs: ACTION_TIMEOUT_MS });
    return { status: 200, json: { done: await runAction(source, name, body.toString()) } };
  } catch (error) {
    if (!isWebhookError(error)) {
      return { status: 500, json: { error: error instanceof Error ? error.message : `${error}` } };
    }
    const status = error.code === 'invalid_option' ? 409 : error.status;
    return { status, json: { error: error.problem } };
  }
}

function isAction(name: string): name is ActionName {
  return Object.hasOwn(FIELDS, name);
}

/** @throws WebhookError (as a rejection) `invalid_option` */
async function runAction<Name extends ActionName>(source: PageSource, name: Name, json: string): Promise<string> {
  const input = readInput(json);
  for (const [field, type] of Object.entries<string>(FIELDS[name])) {
    check(typeof input[field] === type, `${field} must be a ${type}`);
  }
  const action = source.actions[name];
  check(action !== undefined, `${name} cannot be done here`);
  return action(input as unknown as ActionInputs[Name]);
}

function readInput(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {}
  check(false, 'the request must be a JSON object');
}
