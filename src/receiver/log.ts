import { type EventType, PAYLOAD_VERSION, WEBHOOK_EVENT_TYPES } from '../event.js';
import { check, checkObject } from '../option-checks.js';
import { printable } from '../printable.js';
import { stackOf, textOfThrown } from '../thrown.js';
import { unrefTimeout } from '../timers.js';
import type { Delivery } from '../verify/verify.js';
import type { Outcome } from './outcome.js';

/**
 * The logger of a receiver: the console, or a logger of pino, winston, Fastify or Nest without an adapter. A logger
 * with a method `child` gets the fields of an entry through it; any other gets them as the second argument.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info?(message: string, fields?: LogFields): void;
  debug?(message: string, fields?: LogFields): void;
  /** Whether entries of a level are printed, as loggers of pino and winston have it; asked before an entry is built. */
  isLevelEnabled?(level: string): boolean;
}

/** The fields of a log entry. The message contains the same information in words. */
export interface LogFields {
  /** The code of an error, or the kind of an outcome. */
  code: string;
  eventId?: string | undefined;
  eventType?: string | undefined;
  /** The tenant whose secret matched, where the receiver has tenants. */
  tenant?: string | undefined;
  /** True for an event that `jobs.reconcile()` made, which no signature covers. */
  reconciled?: boolean | undefined;
  /** The number of the service's attempt, from a header that no signature covers; in a worker, of the run of the job. */
  attempt?: number | undefined;
  /** The error that your handler, store or secret function threw. */
  err?: unknown;
  /** The stacks of `err` and its causes, for loggers that write an error as `{}`, such as winston's JSON format. */
  stack?: string | undefined;
}

type Level = 'error' | 'warn' | 'info' | 'debug';

interface Entry {
  level: Level;
  code: string;
  message: string;
  delivery?: Delivery | undefined;
  attempt?: number | undefined;
  /** The error that the user's code or store threw. */
  cause?: unknown;
  /**
   * Whether strangers or every delivery can cause it: such an entry is logged once a minute for each code, then
   * counted.
   */
  limited?: boolean;
}

/** What an outcome says. */
type Content = Omit<Entry, 'level' | 'attempt'>;

const WINDOW_MS = 60_000;
/** How many types that this version does not know are reported as without a handler: a tenant can send any number. */
const MAX_UNKNOWN_TYPES = 100;

/** The log of a receiver. Nothing here throws. */
export interface Log {
  /** Writes an outcome, with the attempt of the service, or of a worker where `attempt` is given. */
  outcome(outcome: Outcome, attempt?: number): void;
  warn(code: string, message: string, cause?: unknown): void;
}

/**
 * Returns the log of a receiver.
 *
 * @throws WebhookError `invalid_option`
 */
export function createLog(logger: Logger | false = console): Log {
  if (logger === false) return { outcome() {}, warn() {} };
  checkObject('logger', logger);
  for (const level of ['error', 'warn'] as const) {
    check(typeof logger[level] === 'function', `logger has no method ${level}()`);
  }
  /** The number of entries left out since the last one that was written, by code. */
  const leftOut = new Map<string, number>();
  /** The types of events that were reported as without a handler. */
  const withoutHandler = new Set<string>();

  const log = (entry: Entry) => safely(() => write(logger, entry));

  /** Whether the logger may print entries of a level. Errors and warnings are never kept from it. */
  function mayPrint(level: Level): boolean {
    if (level === 'error' || level === 'warn') return true;
    if (logger === console) return false;
    try {
      return (logger as Logger).isLevelEnabled?.(level) !== false;
    } catch {
      return true;
    }
  }

  function logLimited({ code, level, ...entry }: Entry): void {
    const count = leftOut.get(code);
    leftOut.set(code, count === undefined ? 0 : count + 1);
    if (count !== undefined) return;
    log({ code, level, ...entry });
    unrefTimeout(() => {
      const more = leftOut.get(code);
      leftOut.delete(code);
      if (more) log({ level, code, message: `${more} more in a minute.` });
    }, WINDOW_MS);
  }

  /** Returns whether an ignored event is the first one of its type. */
  function isNewType(type: string): boolean {
    const isKnown = isKnownType(type);
    if (withoutHandler.has(type) || (!isKnown && type.length > MAX_LENGTH)) return false;
    if (!isKnown && withoutHandler.size >= MAX_UNKNOWN_TYPES) return false;
    withoutHandler.add(type);
    return true;
  }

  return {
    outcome(outcome, attempt) {
      const { kind, delivery } = outcome;
      const isMissing = kind === 'ignored' && isNewType(delivery.event.type);
      const level = isMissing ? 'warn' : levelOf(outcome);
      if (!mayPrint(level)) return;
      safely(() => {
        const content = isMissing ? missingHandler(delivery) : contentOf(outcome);
        const entry = { ...content, level, attempt: attempt ?? delivery?.unsigned.attempt };
        return entry.limited ? logLimited(entry) : log(entry);
      });
    },
    warn: (code, message, cause) => logLimited({ level: 'warn', code, message, cause }),
  };
}

/** Runs a call of the logger, whose error must not become a failure of the delivery. An async logger may reject. */
function safely(call: () => unknown): void {
  (async () => call())().catch(() => {});
}

function missingHandler(delivery: Delivery): Content {
  const { type } = delivery.event;
  const fix = isKnownType(type) ? "add it or '*' to on" : "add '*' to on";
  const { scheme } = delivery;
  const end =
    scheme === 'reconciled' ? 'Its job stays overdue' : 'The event counts as done, and the service does not retry it';
  const message = `No handler for ${quoted(type)}: ${fix}. ${end}. Later events of this type are logged at level debug.`;
  return { code: 'ignored', message, delivery };
}

function isKnownType(type: string): boolean {
  return WEBHOOK_EVENT_TYPES.includes(type as EventType);
}

/** The levels of outcomes that are no warnings. */
const LEVELS: { readonly [Kind in Outcome['kind']]?: Level } = {
  handled: 'debug',
  queued: 'debug',
  known: 'debug',
  ignored: 'debug',
  duplicate: 'debug',
  in_progress: 'debug',
  discarded: 'info',
  late_result: 'info',
  failed: 'error',
  dead_letter: 'error',
  store_error: 'error',
};

function levelOf(outcome: Outcome): Level {
  const hasFailedLate = outcome.kind === 'late_result' && outcome.result === 'failed';
  return hasFailedLate ? 'error' : (LEVELS[outcome.kind] ?? 'warn');
}

function contentOf(outcome: Outcome): Content {
  const { kind, delivery } = outcome;
  switch (kind) {
    case 'rejected':
      return { code: outcome.error.code, message: outcome.error.message, limited: true };
    case 'failed': {
      const { code, message, cause } = outcome.error;
      return { code, message, delivery, cause, limited: delivery === undefined };
    }
    case 'past_deadline':
      return { code: outcome.error.code, message: outcome.error.message, delivery };
    case 'late_result': {
      const { result, error } = outcome;
      const message = `Your handler or route ended after its delivery was answered: ${result}.`;
      return { code: kind, message, delivery, cause: error?.cause };
    }
    case 'store_error': {
      const { operation, error } = outcome;
      const message = `The dedupe store failed at ${operation}().`;
      return { code: `${kind}:${operation}`, message, delivery, cause: error, limited: true };
    }
    case 'lease_lost':
    case 'payload_mismatch':
    case 'idempotency_key_mismatch':
      return { code: kind, message: NOTICES[kind], delivery, limited: true };
    case 'unknown_version': {
      const message = `The event has another version than ${PAYLOAD_VERSION}, which the types describe. Branch on event.version.`;
      return { code: kind, message, delivery, limited: true };
    }
    case 'silent': {
      const message = `No delivery was accepted for ${Math.round(outcome.sinceMs / 1000)} s. Check the endpoint's state at the service.`;
      return { code: kind, message };
    }
    case 'overdue': {
      const { jobId, tenant, note, overdueMs } = outcome;
      const owner = tenant === undefined ? '' : ` of ${quoted(tenant)}`;
      const remark = note === undefined ? '' : ` (${quoted(note)})`;
      const late = Math.round(overdueMs / 1000);
      const message = `No event has ended the job ${quoted(jobId)}${owner}${remark}, which was due ${late} s ago: the service is asked for it.`;
      return { code: kind, message };
    }
    case 'dead_letter': {
      const { reason, attempts } = outcome;
      const runs = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
      const advice = 'Remove the cause, then retry or discard it (npx service-webhooks-cli queue).';
      const message = `The delivery is a dead letter after ${runs}. ${advice} Its reason: ${reason}`;
      return { code: kind, message, delivery };
    }
    case 'discarded':
      return { code: outcome.error.code, message: outcome.error.message, delivery };
    default:
      return { code: kind, message: `The delivery is ${kind}.`, delivery };
  }
}

const NOTICES = {
  lease_lost:
    'Another receiver claimed the event, so that its handler may run twice: this process was paused, or could not reach ' +
    'the store, for longer than leaseMs.',
  payload_mismatch: 'The event was delivered before with other content, and is treated as the same event.',
  idempotency_key_mismatch:
    'The event was delivered before with another Idempotency-Key. The signed event id decides: nothing is lost.',
};

/** Returns what the logger returns. */
function write(logger: Logger, { level, code, message, delivery, attempt, cause }: Entry): unknown {
  const subject = delivery ? `${subjectOf(delivery, attempt)}: ` : '';
  const named = message.endsWith(`(${code})`) ? message : `${message} (${code})`; // that of an error has it
  const line = printable(`service-webhooks: ${subject}${named}`);
  if (logger === console) {
    return logger[level]?.(cause === undefined ? line : `${line}\n${indented(stackOf(cause))}`);
  }
  const text = cause === undefined ? line : `${line} ${printable(textOfThrown(cause))}`;
  const thrown = cause !== undefined && { err: cause, stack: stackOf(cause) };
  const fields = { code, ...(delivery && fieldsOf(delivery, attempt)), ...thrown };
  const { child } = logger as { child?: (fields: object) => Logger };
  if (typeof child === 'function') return child.call(logger, fields)[level]?.(text);
  return logger[level]?.(text, fields);
}

function fieldsOf({ event, tenant, scheme }: Delivery, attempt: number | undefined) {
  return {
    eventId: shortened(event.id),
    eventType: shortened(event.type),
    ...(tenant !== undefined && { tenant: shortened(tenant) }),
    ...(scheme === 'reconciled' && { reconciled: true }),
    attempt,
  };
}

function subjectOf({ event, tenant, scheme }: Delivery, attempt: number | undefined): string {
  const made = scheme === 'reconciled' ? ', reconciled' : '';
  const owner = tenant === undefined ? '' : ` of ${quoted(tenant)}`;
  return `${quoted(event.type)} ${quoted(event.id)}${owner}${made}${attempt === undefined ? '' : `, attempt ${attempt}`}`;
}

const MAX_LENGTH = 120;

/** Puts a text with other characters than those of ids in quotes, so that it does not read as the words next to it. */
function quoted(text: string): string {
  const short = text.slice(0, MAX_LENGTH);
  return /^[\w.-]+$/.test(short) ? short : JSON.stringify(short);
}

/** Shortens and escapes the text of an event, which may contain a line feed that would begin a forged entry. */
function shortened(text: string): string {
  return printable(text.slice(0, MAX_LENGTH));
}

/** Indents each line of a stack, so that none resembles an entry. */
function indented(stack: string): string {
  const lines = stack.split('\n');
  return lines.map((line) => `  ${printable(line)}`).join('\n');
}
