/** Returns the fields of a JSON object that anyone may have written; none where the text is no JSON. */
export function jsonFields(text: string | Uint8Array): Record<string, unknown> {
  try {
    return Object(JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString()));
  } catch {
    return {};
  }
}
