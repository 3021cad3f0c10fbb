import { Failure } from '../../failure.js';
import { parseHttp } from '../../http/http-message.js';
import { jsonFields } from '../../http/json-fields.js';

/** What the types are learned from: no more of an event is read. */
export interface SampleEvent {
  id: unknown;
  type: string;
  data: object;
}

const HTTP = /^[A-Z]+ \S+ HTTP\/1\.[01]\r?\n/;
const FORMS = 'Pass captures (.http), events as JSON lines, or an event or a list of events as JSON';

/**
 * Returns the events in a file: a captured delivery, an event or a list of events as JSON, or JSON lines. In place of an
 * event there may be a queued delivery.
 *
 * @param name The file, for messages. They have nothing of its content.
 * @throws Failure
 */
export function eventsIn(bytes: Buffer, name: string): SampleEvent[] {
  if (HTTP.test(bytes.toString('latin1', 0, 4_096)))
    return [eventInBody(parseHttp(bytes, name).body, `the body in ${name}`)];
  const text = bytes.toString().replace(/^\uFEFF/, '');
  const whole = parsed(text);
  if (Array.isArray(whole)) return whole.map((one, index) => eventOf(one, `${name}: element ${index + 1}`));
  if (whole !== undefined) return [eventOf(whole, name)];
  const lines = text.split('\n');
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [eventOf(parsed(line), `${name}:${index + 1}`)]));
}

/** Returns the event in the body of a delivery. @throws Failure */
export function eventInBody(body: Uint8Array, name: string): SampleEvent {
  return eventOf(parsed(Buffer.from(body).toString()), name);
}

function eventOf(value: unknown, name: string): SampleEvent {
  const { body } = Object(value);
  const isQueued = faultOf(value) !== undefined && typeof body === 'string';
  const event = isQueued ? jsonFields(textIn(body)) : value;
  const fault = faultOf(event);
  if (fault !== undefined) throw new Failure('file', `${name} is no event: ${fault}. ${FORMS}.`);
  return event as SampleEvent;
}

/** The body of a queued delivery is in base64; that of `queue show --json` is the text. */
function textIn(body: string): string {
  return body.trimStart().startsWith('{') ? body : Buffer.from(body, 'base64').toString();
}

function faultOf(value: unknown): string | undefined {
  if (value === undefined) return 'it is not JSON';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no JSON object';
  const { type, data } = value as Partial<Record<string, unknown>>;
  if (typeof type !== 'string') return 'it has no type';
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? undefined : 'its data is no object';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
