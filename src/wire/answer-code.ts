/** Returns the code of the service's error object, which this library's receivers also answer with. */
export function answerCode(body: string): string | undefined {
  let code: unknown;
  try {
    code = JSON.parse(body).error.code;
  } catch {}
  return typeof code === 'string' ? code : undefined;
}
