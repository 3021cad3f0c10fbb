import { type Secret, type VerifyInput, verify } from 'service-webhooks';
import { isAcknowledged } from 'service-webhooks/service';
import { answerCode, isAccepted, LISTEN_HEADER, titleOf } from '../http/answer.js';
import type { SendResult } from '../http/deliver.js';
import { shortened } from '../output.js';
import { ADVICE, type Advice, adviceOn, isErrorCode, type RefusalCause } from './advice.js';
import { type AskedApp, homeTitle, parsesFirst, refusesEverywhere } from './experiments.js';

/** A delivery and its answer. */
export interface Answered extends Pick<VerifyInput, 'headers' | 'body'> {
  sent: SendResult;
  url: URL;
  /** When it was sent, in milliseconds since the epoch. */
  at: number;
}

/** How further requests to the app are made. */
export interface DiagnoseOptions extends Pick<AskedApp, 'signal' | 'insecure'> {
  /** The secret of the app, as this command knows it; undefined asks the app nothing. */
  secret: Secret | undefined;
  headerPrefix: string;
}

type Answer = Extract<SendResult, { status: number }>;

/** A person waits for the result. */
const ASK_TIMEOUT_MS = 3_000;
/** The tolerance of receivers, less the time that a delivery and its answer take. */
const SKEW_MS = 295_000;

/**
 * Resolves to why an app does not acknowledge a delivery, and what to do about it; undefined where it does, or where
 * there is no answer. Where the answer does not say enough about a valid delivery, it sends further requests to the app
 * and compares the answers. It rejects only when `signal` is aborted.
 */
export async function diagnose(answered: Answered, options: DiagnoseOptions): Promise<Advice | undefined> {
  const { sent, url, at } = answered;
  if (sent.status === undefined || isAccepted(sent)) return undefined;
  const cause = causeIn(sent);
  const { headerPrefix, signal, insecure } = options;
  const app = { url, signal, insecure, timeoutMs: ASK_TIMEOUT_MS };
  const isPassedOn = sent.headers[LISTEN_HEADER.toLowerCase()] !== undefined;
  if (isPassedOn && (!isErrorCode(cause) || cause === 'signature_mismatch')) return adviceOn('behind_listen');
  if (cause === 'redirect') return adviceOn(cause, { fix: `Use the final URL: ${locationOf(sent)}` });
  if (cause === 'web_page') return adviceOn(cause, { message: `${messageOfPage(sent)}`, fix: fixOfPath(url) });
  if (cause === 'no_route') return adviceOn(cause, { message: await messageOfRoute(app, sent), fix: fixOfPath(url) });
  const secret = isValid(answered, options) ? options.secret : undefined;
  if (secret === undefined) return adviceOn(cause); // the app is right to refuse it
  if (cause === 'missing_signature' || cause === 'legacy_not_accepted') return ofPrefix(headerPrefix);
  if (cause === 'timestamp_too_old' || cause === 'timestamp_in_future') {
    return isPassedOn ? adviceOn('behind_listen') : ofClock(sent, at); // the Date header is that of listen
  }
  if (cause !== 'unclear' && cause !== 'signature_mismatch') return adviceOn(cause);
  if (cause !== 'signature_mismatch' && Math.abs(skewOf(sent, at)) >= SKEW_MS) return ofClock(sent, at);
  if (await parsesFirst(app, sent, { secret, headerPrefix })) return adviceOn('parsed_body');
  if (cause === 'signature_mismatch') return adviceOn('other_secret');
  if (![400, 401, 403].includes(sent.status)) return adviceOn(cause);
  if (await refusesEverywhere(app, sent)) return adviceOn('refused_everywhere');
  return adviceOn('other_secret', { fix: `${ADVICE.other_secret.fix} ${OR_A_GUARD}` });
}

function isValid({ headers, body, at }: Answered, { secret, headerPrefix }: DiagnoseOptions): boolean {
  if (secret === undefined) return false;
  try {
    verify({ headers, body, secret, headerPrefix, now: () => at });
    return true;
  } catch {
    return false;
  }
}

/** Returns what the answer alone says. */
export function causeIn({ status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>): RefusalCause {
  if (isAcknowledged({ status })) return 'web_page';
  const code = answerCode(body);
  if (isErrorCode(code)) return code;
  if (status >= 300 && status <= 399) return 'redirect';
  if (status === 404 || status === 405) return 'no_route';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'failed';
  if (/csrf|xsrf|page expired/i.test(body)) return 'csrf';
  // A receiver of this library names the scheme Webhook.
  const { 'www-authenticate': scheme = 'Webhook' } = headers;
  const asksForLogin = !/^webhook\b/i.test(scheme) || ((status === 401 || status === 403) && LOGIN.test(body));
  return asksForLogin ? 'login' : 'unclear';
}

const LOGIN = /\b(jwt|bearer|log ?in|sign ?in|authentication|authorization|access token|api[ -]?key|credentials)\b/i;
/** Where the answer has no code, it may also be that of something else than the receiver. */
const OR_A_GUARD = 'If a login or a guard in front of the receiver gives this answer, exempt this path from it.';

function locationOf({ headers }: Answer): string {
  return shortened(headers['location'] ?? 'another address');
}

function messageOfPage({ body }: Answer): string {
  const title = titleOf(body);
  return `Another app answers here, with ${title === undefined ? 'an HTML page' : `an HTML page. Its title is "${title}"`}.`;
}

/** The titles of pages that say no more than the status. */
const NO_TITLE = /^(error|40[45]\b.*|(page )?not found)$/i;

async function messageOfRoute(app: AskedApp, sent: Answer): Promise<string> {
  const { origin, pathname } = app.url;
  const own = titleOf(sent.body);
  const title = own === undefined || NO_TITLE.test(own) ? await homeTitle(app) : own;
  const other =
    title === undefined || NO_TITLE.test(title)
      ? 'The receiver is not mounted there, or another app answers here.'
      : `Its title is "${title}": if that is not your app, another app answers here.`;
  return `The app at ${origin} has no route for POST ${shortened(pathname)}. ${other}`;
}

/** Returns where else to send to, in the form in which a target is typed. */
function fixOfPath({ hostname, origin, pathname, port }: URL): string {
  const isPort = ['localhost', '127.0.0.1', '[::1]'].includes(hostname) && port !== '';
  const other = pathname === '/webhooks' ? '/api/webhooks' : '/webhooks';
  const path = `Name the path where your receiver is mounted, as in ${isPort ? port : origin}${other}.`;
  return isPort ? `${path} A port alone means /webhooks, or the path in service-webhooks.json.` : path;
}

function ofPrefix(prefix: string): Advice {
  const sent = `the headers sent here begin with ${prefix}.`;
  return adviceOn('header_prefix', { message: `Your app looks for signature headers with another prefix: ${sent}` });
}

/** Returns the advice where the app refuses the signed time, by the Date header of its answer. */
function ofClock(sent: Answer, at: number): Advice {
  const skew = skewOf(sent, at);
  if (!(Math.abs(skew) >= 5_000)) return adviceOn('time_check');
  const side = skew < 0 ? 'behind' : 'ahead';
  return adviceOn('clock', { message: `The clock of your app is ${inWords(Math.abs(skew))} ${side} (Date header).` });
}

/** Returns how far the clock of the app is ahead, in milliseconds; NaN where the answer has no time. */
function skewOf({ headers }: Answer, at: number): number {
  return Date.parse(headers['date'] ?? '') - at;
}

function inWords(ms: number): string {
  const seconds = 5 * Math.round(ms / 5_000); // a Date header has whole seconds, rounded down
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** {@link diagnose} for a command that sees many deliveries. */
export type Diagnosis = (answered: Answered, options: DiagnoseOptions) => Promise<Advice | undefined>;

/** How long a conclusion about an app holds: it may be started again with a repair. */
const KEPT_MS = 10_000;
const MAX_KEPT = 100;

/** Returns {@link diagnose} that asks an app once where it gives the same answer several times in a row. */
export function createDiagnosis(now = () => performance.now()): Diagnosis {
  const kept = new Map<string, { key: string; until: number; advice: Promise<Advice | undefined> }>();
  return async (answered, options) => {
    const { sent, url } = answered;
    if (sent.status === undefined || isAccepted(sent)) {
      kept.delete(url.href);
      return undefined;
    }
    const key = `${sent.status} ${causeIn(sent)} ${isValid(answered, options)}`;
    const known = kept.get(url.href);
    if (known?.key === key && now() < known.until) return known.advice;
    const advice = diagnose(answered, options);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(url.href, { key, until: now() + KEPT_MS, advice });
    return advice;
  };
}
