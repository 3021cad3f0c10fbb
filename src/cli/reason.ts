/** What an error says; some of a connection have a code alone. */
export function reasonOf(error: unknown): string {
  const { message = '', code = '' } = Object(error) as { message?: string; code?: string };
  return message || code || String(error);
}
