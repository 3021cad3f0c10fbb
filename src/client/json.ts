import { hideSecret } from './signing-secret.js';

/** What {@link parseJson} gives for what is no JSON. */
export const NO_JSON = Symbol('no JSON');

/** Undefined for an empty text. Each `signing_secret`, wherever it is, becomes one that cannot be logged. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text, (name, value) =>
      name === 'signing_secret' && typeof value === 'string' ? hideSecret(value) : value,
    );
  } catch {
    return NO_JSON; // not the SyntaxError: it quotes the text
  }
}

/** Every object in a JSON value, the outer ones first: for answers whose layout the specification does not show. */
export function objectsIn(value: unknown): object[] {
  const objects: object[] = [];
  const left = [value];
  for (const next of left) {
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) objects.push(next);
    for (const inner of Object.values(next)) left.push(inner);
  }
  return objects;
}
