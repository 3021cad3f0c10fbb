/** Why no answer came, as a part of a sentence, and what to do about it, as sentences. */
export interface NoAnswer {
  problem: string;
  fix: string;
}

const READ_LOG = 'Look into the log of the app.';
const CUT: NoAnswer = { problem: 'the connection was closed without an answer', fix: READ_LOG };
const NO_TLS: NoAnswer = { problem: 'no TLS is spoken there', fix: 'Is it http: and not https:?' };

const PROBLEMS: Readonly<Record<string, NoAnswer>> = {
  ECONNREFUSED: { problem: 'nothing listens there', fix: 'Start the app, or correct the port.' },
  ECONNRESET: CUT,
  EPIPE: CUT,
  ENOTFOUND: { problem: 'there is no such host', fix: 'Check the name.' },
  EAI_AGAIN: { problem: 'the name cannot be looked up at the moment', fix: 'Check the network.' },
  EHOSTUNREACH: { problem: 'there is no way to that host', fix: 'Check the network.' },
  ENETUNREACH: { problem: 'there is no way to that network', fix: 'Check the address.' },
  ETIMEDOUT: { problem: 'no connection came about', fix: 'Check the address and the firewall.' },
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
};

/** Returns why no answer came, from the error of a request or its text. */
export function connectionProblem(error: unknown): NoAnswer {
  const { code = codeIn(String(error)), message = String(error) } = Object(error) as NodeJS.ErrnoException;
  if (/CERT|SIGNED|SIGNATURE/.test(code)) {
    return {
      problem: `the certificate is not trusted (${code})`,
      fix: 'Name its authority in NODE_EXTRA_CA_CERTS, or pass --insecure for an app of your own.',
    };
  }
  if (code.startsWith('HPE_')) return { problem: 'what came back is no HTTP', fix: 'Check the port.' };
  return PROBLEMS[code] ?? { problem: message, fix: READ_LOG };
}

/** Returns what is said of an app that needs longer than a delivery may take. */
export function tooLate(ms: number): NoAnswer {
  return { problem: `no answer within ${ms / 1000} s`, fix: 'Queue the work and answer 202.' };
}

/** Returns the code of an error whose object is no longer available, as in an attempt of the emulator, from its text. */
function codeIn(text: string): string {
  if (text.includes('socket hang up')) return 'ECONNRESET'; // as Node says it
  const isIn = ([code, { problem }]: [string, NoAnswer]) => text.includes(code) || text.includes(problem);
  return Object.entries(PROBLEMS).find(isIn)?.[0] ?? '';
}
