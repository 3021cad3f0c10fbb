const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; start the app, or correct the port',
  ECONNRESET: 'the connection was closed without an answer; look into the log of the app',
  EPIPE: 'the connection was closed without an answer; look into the log of the app',
  ENOTFOUND: 'there is no such host; check the name',
  EAI_AGAIN: 'the name cannot be looked up at the moment; check the network',
  EHOSTUNREACH: 'there is no way to that host; check the network',
  ENETUNREACH: 'there is no way to that network; check the address',
  ETIMEDOUT: 'no connection came about; check the address and the firewall',
  EPROTO: 'no TLS is spoken there; is it http: and not https:?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS is spoken there; is it http: and not https:?',
};

/** Returns why no answer came, and what to do about it. */
export function connectionProblem(error: unknown): string {
  const { code = codeIn(String(error)), message = String(error) } = Object(error) as NodeJS.ErrnoException;
  if (/CERT|SIGNED|SIGNATURE/.test(code)) {
    return `the certificate is not trusted (${code}); name its authority in NODE_EXTRA_CA_CERTS, or pass --insecure for an app of your own`;
  }
  if (code.startsWith('HPE_')) return 'what came back is no HTTP; check the port';
  return PROBLEMS[code] ?? message;
}

/** Returns the code in the text of an error whose object is no longer available, as in an attempt of the emulator. */
function codeIn(text: string): string {
  return Object.keys(PROBLEMS).find((code) => text.includes(code)) ?? '';
}
