import type { EventType } from 'service-webhooks';
import { type EventOverrides, sampleEvent } from 'service-webhooks/testing';
import { Failure } from '../../failure.js';

type Fields = { [name: string]: unknown };

/**
 * Returns a sample event with fields set: `data.clipId=clip_1` sets text, or a number where the sample has one;
 * `data.tags:=["a"]` sets JSON.
 *
 * @throws Failure
 */
export function sampleWith(type: EventType, settings: readonly string[]) {
  const sample = sampleEvent(type);
  const overrides: Fields = {};
  for (const setting of settings) {
    const { path, value, isJson } = parseSetting(setting);
    const isNumber = typeof valueAt(sample, path) === 'number' && value.trim() !== '' && Number.isFinite(Number(value));
    put(overrides, path, isJson ? parseJson(value, setting) : isNumber ? Number(value) : value);
  }
  return sampleEvent(type, overrides as EventOverrides<EventType>);
}

function parseSetting(setting: string) {
  const found = /^([^=:\s]+)(:?=)(.*)/s.exec(setting);
  if (!found) {
    throw new Failure('usage', `--set ${setting}: it takes field=text or field:=json, as in data.clipId=clip_1.`);
  }
  const [, path, operator, value] = found as string[] as [string, string, string, string];
  return { path: path.split('.'), value, isJson: operator === ':=' };
}

function parseJson(value: string, setting: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new Failure('usage', `--set ${setting}: what stands behind := is no JSON; = sets text.`);
  }
}

function valueAt(from: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), from);
}

/**
 * Sets a field and creates the objects on its path. Defined and not assigned, so that `__proto__` is a name like
 * others.
 */
function put(into: Fields, [name = '', ...rest]: readonly string[], value: unknown): void {
  const inner = Object.hasOwn(into, name) && isObject(into[name]) ? into[name] : {};
  if (rest.length > 0) put(inner, rest, value);
  const settled = rest.length > 0 ? inner : value;
  Object.defineProperty(into, name, { value: settled, enumerable: true, configurable: true });
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
