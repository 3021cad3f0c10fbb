/** Returns the value that an engine has stored as JSON. Text that is not JSON stays text, which a processor refuses. */
export function parsedJob(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
