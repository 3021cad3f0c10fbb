import { ERRORS, type WebhookErrorCode } from 'service-webhooks';

/** Why an app does not acknowledge a delivery, and what to do about it. */
export interface Advice {
  cause: RefusalCause;
  message: string;
  fix: string;
}

/** The causes for which no code of the library stands. Nothing in the texts comes from an answer or its URL. */
export const ADVICE = {
  parsed_body: {
    message: 'Your app parses the body first: its answer changes with the spaces in the JSON.',
    fix: 'Verify the raw body: mount the receiver above express.json(), or keep the bytes as they arrived.',
  },
  other_secret: {
    message: 'Your app has another secret: it refuses the signature in every form of the body.',
    fix: 'Compare the secret of your app with the one given here (WEBHOOK_SECRET or --secret), and restart your app. If they are equal, check what your app signs: t, a dot and the raw body.',
  },
  secret_or_guard: {
    message: 'Your app has another secret, or a guard in front of the receiver refuses the request.',
    fix: 'Compare the secret of your app with the one given here (WEBHOOK_SECRET or --secret). If they are equal, exempt this path from logins and guards.',
  },
  clock: {
    message: 'The clock of your app is wrong, so that it refuses the signed time.',
    fix: 'Synchronise the clock of the machine on which your app runs.',
  },
  time_check: {
    message: 'Your app refuses the signed time, although its Date header shows the right time.',
    fix: 'Check the options now and toleranceSeconds of the receiver: now returns milliseconds.',
  },
  header_prefix: {
    message: 'Your app looks for signature headers with another prefix.',
    fix: 'Pass the prefix of your app with --header-prefix, or set headerPrefix of the receiver to the one sent here.',
  },
  login: {
    message: 'Something in front of the receiver asks for a login.',
    fix: 'Exempt this path from authentication: the service sends a signature and no login.',
  },
  csrf: {
    message: 'A CSRF filter refuses the request, because it has no token of a form.',
    fix: 'Exempt this path from the CSRF filter: the signature protects it.',
  },
  refused_everywhere: {
    message:
      'Your app refuses every path in the same way: something in front of the receiver, such as a login or a firewall, refuses the request.',
    fix: 'Exempt this path from it. If the whole server is the receiver, compare its secret with the one given here.',
  },
  behind_listen: {
    message: 'listen has passed on the answer of your app.',
    fix: 'The terminal of listen says why.',
  },
  correctly_refused: {
    message: 'This delivery does not verify, so the app is right to refuse it.',
    fix: 'Send one without a fault to see whether the app accepts valid deliveries.',
  },
  accepted_invalid: {
    message: 'The app has accepted a delivery that does not verify.',
    fix: 'Verify the signature and its time before anything else. doctor shows what else the app accepts.',
  },
  redirect: { message: 'The app redirects, and the service follows no redirect.', fix: 'Use the final URL.' },
  no_route: {
    message: 'The app has no route for POST at this URL.',
    fix: 'Name the path where your receiver is mounted.',
  },
  web_page: {
    message: 'Another app answers here, with an HTML page.',
    fix: 'Name the port and the path of your receiver.',
  },
  too_large: { message: 'The app takes no body of this size.', fix: 'Raise the body limit of the app.' },
  rate_limited: { message: 'The app limits requests.', fix: 'Exempt this path from the limit.' },
  no_answer: { message: 'The app does not answer.', fix: 'Check that it runs, and look at its log.' },
  failed: { message: 'The app failed.', fix: 'Look at the log of the app.' },
  unclear: { message: 'The answer does not say why the app refuses.', fix: 'Look at the log of the app.' },
} as const satisfies Record<string, Omit<Advice, 'cause'>>;

/** A name in {@link ADVICE}, or a code of the library with which the app answered. */
export type RefusalCause = keyof typeof ADVICE | WebhookErrorCode;

/** Returns the texts of a cause, with what is known in addition. */
export function adviceOn(cause: RefusalCause, details: Partial<Omit<Advice, 'cause'>> = {}): Advice {
  if (!isErrorCode(cause)) return { cause, ...ADVICE[cause], ...details };
  const { message, hint } = ERRORS[cause];
  // A receiver answers with its code alone, and logs the details, such as the error that a handler threw.
  return { cause, message, fix: `${hint} The log of the app has the details.`, ...details };
}

/** Returns the cause and the fix, as sentences. */
export function adviceText({ message, fix }: Advice): string {
  return `${message} ${fix}`;
}

/** Returns a sentence, and after it the cause and the fix where there are some. */
export function withAdvice(said: string, advice: Advice | undefined): string {
  return advice === undefined ? said : `${said} ${adviceText(advice)}`;
}

export function isErrorCode(code: string | undefined): code is WebhookErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code);
}
