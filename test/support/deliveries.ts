import {
  type ClaimRequest,
  createReceiver,
  type DedupeStore,
  type Delivery,
  isNotice,
  isWebhookError,
  memoryStore,
  type Outcome,
  type Receiver,
  type ReceiverOptions,
  type Scheme,
  type Secret,
  sign,
  type WebhookError,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';

export const SECRET = 'whsec_4f2c9a7e51d8b360';

/** The instant at which signatures are made and verified here, so that no test depends on today's date. */
export const NOW = Date.UTC(2026, 6, 11, 12);
export const now = () => NOW;

/** An envelope with nothing wrong with it, except for what is changed. */
export function anEvent(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'evt_1',
    type: 'stt.completed',
    version: '2026-07-11',
    jobId: 'clip_1',
    data: { clipId: 'clip_1' },
    timestamp: new Date(NOW).toISOString(),
    ...changes,
  };
}

export const bodyOf = (changes: Record<string, unknown> = {}): string => JSON.stringify(anEvent(changes));

export interface DeliveryParts {
  event?: Record<string, unknown>;
  /** The body as it is signed and sent; by default the event. */
  body?: string | Uint8Array;
  secret?: Secret;
  at?: number;
  scheme?: Scheme | 'both';
  headers?: Record<string, string>;
}

/** Headers and body of a delivery as the service sends it: both signatures, and whatever else a test adds. */
export function aDelivery({
  event,
  body = bodyOf(event),
  secret = SECRET,
  at = NOW,
  scheme,
  headers,
}: DeliveryParts = {}) {
  return { headers: { ...sign({ body, secret, at, scheme }), ...headers }, body };
}

export function aRequest(parts?: DeliveryParts): WebhookRequest {
  return { method: 'POST', ...aDelivery(parts) };
}

/** A request whose body is streamed, with the signature of the whole. */
export function aStreamedRequest(body: AsyncIterable<Uint8Array>, parts?: DeliveryParts): WebhookRequest {
  return { ...aRequest(parts), body };
}

export interface Watched {
  receiver: Receiver;
  outcomes: Outcome[];
  answers(): Outcome['kind'][];
  notices(): Outcome['kind'][];
  find<Kind extends Outcome['kind']>(kind: Kind): Extract<Outcome, { kind: Kind }>;
}

/** A receiver with every outcome it told its observer. */
export function aReceiver(options: Partial<ReceiverOptions> = {}): Watched {
  const outcomes: Outcome[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    now,
    on: { '*': () => {} },
    logger: false,
    ...options,
    observe(outcome) {
      outcomes.push(outcome);
      return options.observe?.(outcome);
    },
  });
  const kinds = (answers: boolean) =>
    outcomes.filter((outcome) => isNotice(outcome) !== answers).map(({ kind }) => kind);
  return {
    receiver,
    outcomes,
    answers: () => kinds(true),
    notices: () => kinds(false),
    find(kind) {
      const found = outcomes.find((outcome) => outcome.kind === kind);
      if (found === undefined) throw new Error(`no ${kind} among: ${outcomes.map((o) => o.kind).join(', ')}`);
      return found as ReturnType<Watched['find']> as never;
    },
  };
}

/** What a call refuses with. Anything but a WebhookError is passed on, and so fails the test. */
export function refusal(call: () => unknown): WebhookError {
  try {
    call();
  } catch (error) {
    if (isWebhookError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** {@link refusal} of a promise. */
export async function rejection(promise: Promise<unknown>): Promise<WebhookError> {
  const outcome = await promise.then(
    () => () => {},
    (error) => () => {
      throw error;
    },
  );
  return refusal(outcome);
}

type Verified = Pick<Delivery, 'scheme' | 'signedAt' | 'secretIndex'>;

/** The scheme that held, or the code of the refusal. Anything but a WebhookError is passed on. */
export async function verdict(call: () => Verified | Promise<Verified>): Promise<string> {
  try {
    return (await call()).scheme;
  } catch (error) {
    if (isWebhookError(error)) return error.code;
    throw error;
  }
}

/** The status and the code, or what was decided where nothing was refused: `401 missing_signature`, `200 handled`. */
export function inShort({ status, body }: WebhookResponse): string {
  const content = body === '' ? {} : JSON.parse(body);
  return `${status} ${content.error?.code ?? content.outcome ?? ''}`.trim();
}

/** A promise with its ends in hand. */
export function later<T = void>() {
  let resolve: (value: T | PromiseLike<T>) => void = () => {};
  let reject: (reason?: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

export const never = <T>(): Promise<T> => new Promise<T>(() => {});

export interface RecordedStore extends DedupeStore {
  /** Every call so far, by name. */
  calls: string[];
  claims: ClaimRequest[];
}

/** A memory store that writes down its calls, with methods exchanged for those of a test. */
export function aStore(methods: Partial<DedupeStore> = {}, inner = memoryStore()): RecordedStore {
  const calls: string[] = [];
  const claims: ClaimRequest[] = [];
  const merged = { ...inner, ...methods };
  const recorded = <Arguments extends unknown[], Result>(name: string, method: (...args: Arguments) => Result) => {
    return (...args: Arguments): Result => {
      calls.push(name);
      return method(...args);
    };
  };
  return {
    ...merged,
    calls,
    claims,
    claim: recorded('claim', (request) => {
      claims.push(request);
      return merged.claim(request);
    }),
    extend: recorded('extend', merged.extend),
    complete: recorded('complete', merged.complete),
    release: recorded('release', merged.release),
  };
}
