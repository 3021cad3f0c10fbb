import type { Format } from '../../../src/commands/types/dialects.js';
import { learnTypes } from '../../../src/commands/types/learn-types.js';
import { render } from '../../../src/commands/types/render.js';
import { aSession } from '../../support/session.js';

/** An event with this `data`, as the service sends it. */
export const anEventWith = (data: unknown, { type = 'stt.completed', id = String(crypto.randomUUID()) } = {}) => ({
  ...{ id: `evt_${id}`, type, version: '2026-07-11', jobId: null, timestamp: '2026-07-11T12:00:00Z' },
  data,
});

/** What is learned from these `data`, and the text of the file in each format. */
export async function learnedFrom(samples: readonly unknown[], named: readonly string[] = []) {
  return learnedFromLines(samples.map((data) => JSON.stringify(anEventWith(data))).join('\n'), named);
}

/** The same of events as JSON lines. */
export async function learnedFromLines(lines: string, named: readonly string[] = []) {
  const session = { ...aSession({}, { '-': lines }), signal: new AbortController().signal };
  const learned = await learnTypes(session, ['-'], { named, place: {} });
  return { ...learned, text: (format: Format) => render(format, learned.shapes) };
}

/** The fields of `stt.completed`, each in one line, without their indentation. */
export async function fieldsFrom(samples: readonly unknown[], named?: readonly string[]): Promise<string> {
  return fieldsIn((await learnedFrom(samples, named)).text('types'));
}

export function fieldsIn(types: string): string {
  const [, fields = ''] = /'stt.completed': \{\n([\s\S]*)\n {4}\};/.exec(types) ?? [];
  return fields.replaceAll(/\s+/g, ' ').trim();
}
