import { check } from '../../option-checks.js';
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

export function isAction(name: string): name is ActionName {
  return Object.hasOwn(FIELDS, name);
}

/** @throws WebhookError (as a rejection) `invalid_option` */
export async function runAction<Name extends ActionName>(
  source: PageSource,
  name: Name,
  json: string,
): Promise<string> {
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
