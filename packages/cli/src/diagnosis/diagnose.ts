import { type Secret, type VerifyInput, verify, verifySignature } from 'service-webhooks';
import { answerWord, isAccepted, LISTEN_HEADER, titleOf } from '../http/answer.js';
import type { SendResult } from '../http/deliver.js';
import { shortened } from '../output.js';
import { ADVICE, type Advice, adviceOn, isErrorCode, type RefusalCause } from './advice.js';
import { type Answer, causeIn } from './cause-in.js';
import { type AskedApp, compareForms, homeTitle, refusesEverywhere } from './experiments.js';

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

/** A person waits for the result. */
const ASK_TIMEOUT_MS = 3_000;
/** The tolerance of receivers, less the time that a delivery and its answer take. */
const SKEW_MS = 295_000;
/** More than an answer takes. */
const SEEN_SKEW_MS = 30_000;

/**
 * Resolves to why an app does not acknowledge a delivery, and what to do about it; undefined where it does. Where the
 * answer does not say enough about a valid delivery, it sends further requests to the app and compares the answers. It
 * rejects only when `signal` is aborted.
 */
export async function diagnose(answered: Answered, options: DiagnoseOptions): Promise<Advice | undefined> {
  const { sent, url } = answered;
  if (sent.status === undefined)
    return adviceOn('no_answer', { message: `${url.host}: ${sent.problem}.`, fix: sent.fix });
  if (isAccepted(sent)) return isForged(answered, options) ? adviceOn('accepted_invalid') : undefined;
  const cause = causeIn(sent);
  const app = { url, signal: options.signal, insecure: options.insecure, timeoutMs: ASK_TIMEOUT_MS };
  if (isPassedOn(sent) && !(isErrorCode(cause) && !UNEXPLAINED.includes(cause))) return behindListen(sent);
  if (cause === 'redirect') return ofRedirect(sent, url);
  if (cause === 'web_page') return ofPage(sent, url);
  if (cause === 'no_route') return ofRoute(sent, url, app);
  if (!UNEXPLAINED.includes(cause)) return adviceOn(cause);
  const { secret, headerPrefix } = options;
  if (secret === undefined) return adviceOn(cause);
  if (!isValid(answered, options)) return adviceOn('correctly_refused');
  return ofValid(answered, sent, cause, { app, secret, headerPrefix });
}

/** What a receiver answers to a delivery whose signature it does not accept, and what says nothing. */
const UNEXPLAINED: readonly RefusalCause[] = [
  'missing_signature',
  'malformed_signature',
  'legacy_not_accepted',
  'signature_mismatch',
  'timestamp_too_old',
  'timestamp_in_future',
  'unclear',
];

/** Resolves to why the app does not accept the signature of a valid delivery. */
async function ofValid(
  { at }: Answered,
  sent: Answer,
  cause: RefusalCause,
  { app, ...signing }: { app: AskedApp; secret: Secret; headerPrefix: string },
): Promise<Advice> {
  if (cause === 'missing_signature' || cause === 'legacy_not_accepted') return ofPrefix(signing.headerPrefix);
  if (cause === 'timestamp_too_old' || cause === 'timestamp_in_future') return ofClock(sent, at);
  const isUnclear = cause === 'unclear';
  if (isUnclear && Math.abs(skewOf(sent, at)) >= SKEW_MS) return ofClock(sent, at);
  const compared = await compareForms(app, sent, signing);
  if (compared === 'differ') return adviceOn('parsed_body');
  if (compared === 'unknown' || ![400, 401, 403].includes(sent.status)) return adviceOn(cause);
  if (!isUnclear || /\b(signature|hmac|digest)\b/i.test(sent.body)) return adviceOn('other_secret');
  if (/\b(too old|expired|stale|timestamp)\b/i.test(sent.body)) return adviceOn('time_check');
  return adviceOn((await refusesEverywhere(app, sent)) ? 'refused_everywhere' : 'secret_or_guard');
}

function isValid({ headers, body, at }: Answered, { secret, headerPrefix }: DiagnoseOptions): boolean {
  return secret !== undefined && !throws(() => verify({ headers, body, secret, headerPrefix, now: () => at }));
}

/** Returns whether no receiver should accept it, whatever its options. */
function isForged({ headers, body, at }: Answered, { secret, headerPrefix }: DiagnoseOptions): boolean {
  const checks = { headerPrefix, legacy: 'accept', now: () => at } as const;
  return secret !== undefined && throws(() => verifySignature({ headers, body, secret, ...checks }));
}

function throws(call: () => unknown): boolean {
  try {
    call();
    return false;
  } catch {
    return true;
  }
}

function isPassedOn({ headers }: Answer): boolean {
  return headers[LISTEN_HEADER.toLowerCase()] !== undefined;
}

function behindListen({ body }: Answer): Advice {
  const hasAnswered = answerWord(body) !== 'app_did_not_answer';
  return adviceOn('behind_listen', hasAnswered ? {} : { message: 'Your app has not answered listen.' });
}

function ofRedirect({ headers }: Answer, url: URL): Advice {
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, url.href)) return adviceOn('redirect', { fix: LOG });
  if (new URL(location, url).href === url.href)
    return adviceOn('redirect', { fix: `It leads to this URL again. ${LOG}` });
  if (LOGIN_PATH.test(location)) return adviceOn('login');
  return adviceOn('redirect', { fix: `Use the final URL: ${shortened(location)}` });
}

const LOG = 'Look at the log of the app.';
const LOGIN_PATH = /\b(log-?in|sign-?in|auth|oauth2?|sso)\b/i;

function ofPage({ body }: Answer, url: URL): Advice {
  const title = titleOf(body);
  if (title !== undefined && /\b(log ?in|sign ?in)\b/i.test(title)) return adviceOn('login');
  const message = title === undefined ? ADVICE.web_page.message : `${ADVICE.web_page.message} Its title is "${title}".`;
  return adviceOn('web_page', { message, fix: fixOfPath(url) });
}

/** The titles of pages that say no more than the status. */
const NO_TITLE = /^(error|40[45]\b.*|(page )?not found)$/i;

async function ofRoute({ body }: Answer, url: URL, app: AskedApp): Promise<Advice> {
  const own = titleOf(body);
  const title = own === undefined || NO_TITLE.test(own) ? await homeTitle(app) : own;
  const other =
    title === undefined || NO_TITLE.test(title)
      ? 'The receiver is not mounted there, or another app answers here.'
      : `Its title is "${title}": if that is not your app, another app answers here.`;
  const message = `The app at ${url.origin} has no route for POST ${shortened(url.pathname)}. ${other}`;
  return adviceOn('no_route', { message, fix: fixOfPath(url) });
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
  if (!(Math.abs(skew) >= SEEN_SKEW_MS)) return adviceOn('time_check');
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
      return diagnose(answered, options);
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
