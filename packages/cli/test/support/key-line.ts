/** What a command about the account printed to stderr, apart from the line that says where the API key goes. */
export function withoutKeyLine(stderr: string): string {
  return stderr.replace(/^The API key \([^\n]+\) is sent to http\S+ \([^\n]+\)\.\n/m, '');
}
