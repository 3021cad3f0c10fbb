import {
  createReceiver,
  type Decision,
  type DedupeStore,
  type Delivery,
  isNotice,
  memoryStore,
  type Notice,
  type Outcome,
  PAYLOAD_VERSION,
  PermanentError,
  type ReceiverOptions,
} from 'service-webhooks';
import { type SignDeliveryInput, type SignedDelivery, signDelivery } from 'service-webhooks/testing';
import { type AtEnd, BrokenRule, must, type TrialCase } from '../define-suite.js';
import { withTimeLimit } from '../waiting.js';
import type { AdapterSuiteOptions, AppUnderTest, RouteEnding } from './adapter-under-test.js';
import { type Sending, type SendOptions, type SentAnswer, type SentRequest, send } from './send.js';

/** The rules of `docs/add-an-adapter.md`, as a failing case quotes them. */
export const ADAPTER_RULES = {
  A1: 'the bytes that are verified are the bytes that were sent',
  A2: 'the limits and the content types are those of the receiver, not of the framework',
  A3: 'the answer of the receiver is the answer of the app: status, headers and body',
  A4: "a body that other code has read is refused at once, with the framework's own sentence, and not at the deadline",
  A5: 'exact bytes that other code has kept, such as req.rawBody, are used in place of the stream',
  A6: 'an upload that breaks off runs nothing, and affects no other request',
  A7: 'the route receives the delivery, and it is called only with a verified and claimed one',
  A8: 'the claim ends by what was sent: a whole 2xx completes it, a refusal releases it, a lost connection leaves it to its lease; a route whose sender has left before it is called does not begin',
} as const;

export type AdapterRule = keyof typeof ADAPTER_RULES;

/** A case before it is bound to an adapter. */
export type AdapterTrialCase = TrialCase<AdapterRule, AdapterSuiteOptions, AdapterTrial>;

/** The user's work on a delivery, in a handler or in a route; it returns the status. */
type Work = (delivery: Delivery, signal?: AbortSignal) => number | Promise<number>;

interface Settings extends Omit<ReceiverOptions, 'secret' | 'on' | 'observe' | 'dedupe'> {
  before?: AppUnderTest['before'];
  work?: Work;
  /** Whether the store fails every call. */
  storeDown?: boolean;
  /** What every claim waits for. */
  claimAfter?: Promise<void>;
  ending?: RouteEnding | undefined;
  body?: AppUnderTest['body'];
  otherAnswer?: Promise<number>;
}

/** The tools of a case. */
export interface AdapterTrial {
  options: AdapterSuiteOptions;
  /** Starts an app; it is closed after the case. */
  start(settings?: Settings): Promise<Started>;
}

/** A running app. */
export interface Started {
  send(request: SentRequest): Promise<SentAnswer>;
  /** Sends a request without waiting for the answer. */
  begin(request: SentRequest, options?: SendOptions): Sending;
  /** The deliveries that reached the user's work so far. */
  worked: readonly Delivery[];
  /** Resolves to the next decision of the receiver, which must be of this kind. Each request has one decision. */
  decided<Kind extends Decision['kind']>(kind: Kind): Promise<Extract<Decision, { kind: Kind }>>;
  /** Resolves when the claim of an event has ended. */
  claimEnded(eventId: string): Promise<void>;
  /** Resolves when a claim has begun. */
  claiming(): Promise<void>;
  /** Gives another attempt to the receiver, past the app, and resolves to what it finds. An acquired claim is released. */
  claimAgain(attempt: SignedDelivery): Promise<'acquired' | 'completed' | 'in progress'>;
  /** Resolves when the observer has received a notice of this kind. */
  noticed(kind: Notice['kind']): Promise<void>;
  /** Resolves when the work has started that many times. */
  working(times: number): Promise<void>;
  /** Moves the clock of the store. */
  advance(ms: number): void;
}

const SECRET = 'the secret of the suite';
const PATIENCE_MS = 10_000;

/** Makes what starts the apps of one case. */
export function adapterTrial(options: AdapterSuiteOptions, atEnd: AtEnd): AdapterTrial {
  return { options, start: (settings = {}) => start(options, settings, atEnd) };
}

async function start(options: AdapterSuiteOptions, settings: Settings, atEnd: AtEnd) {
  const { before = 'nothing', work = () => 200, storeDown, claimAfter, ending, body, otherAnswer, ...rest } = settings;
  const clock = { now: 0 };
  const memory = memoryStore({ now: () => clock.now });
  const worked: Delivery[] = [];
  const outcomes: Outcome[] = [];
  let decisions = 0;
  const changed = createBell();
  const run: Work = (delivery, signal) => {
    worked.push(delivery);
    changed.ring();
    return work(delivery, signal);
  };
  let claims = 0;
  const claim: DedupeStore['claim'] = async (request) => {
    claims += 1;
    changed.ring();
    if (storeDown) throw new Error('the store is away');
    await claimAfter;
    return memory.claim(request);
  };
  const receiver = createReceiver({
    logger: false,
    ...rest,
    secret: SECRET,
    on: { '*': async (_, { delivery }) => ({ status: await run(delivery) }) },
    dedupe: { store: { ...memory, claim } },
    observe(outcome) {
      outcomes.push(outcome);
      changed.ring();
    },
  });
  const served = await options.serve({
    receiver,
    before,
    async route(delivery, signal) {
      must(delivery !== undefined, 'the route must get the delivery');
      return run(delivery, signal);
    },
    ending,
    body: body ?? (() => new Uint8Array()),
    otherAnswer: otherAnswer ?? new Promise(() => {}),
  });
  atEnd(() => served.close?.());
  const begin = (request: SentRequest, options?: SendOptions) => send(served, request, options);
  const until = <T>(what: string, find: () => T | undefined): Promise<T> =>
    patiently(
      () => `no ${what} among: ${outcomes.map(({ kind, error }) => `${kind} ${error ?? ''}`).join(', ')}`,
      () => changed.until(find),
    );
  return {
    begin,
    send: (request: SentRequest) =>
      patiently(
        () => 'no answer',
        () => begin(request).answer,
      ),
    worked,
    async decided<Kind extends Decision['kind']>(kind: Kind) {
      const next = await until(
        'decision',
        () => outcomes.filter((outcome): outcome is Decision => !isNotice(outcome))[decisions],
      );
      decisions += 1;
      must(isOf(kind, next), `the receiver must decide ${kind}`, `${next.kind} ${next.error ?? ''}`);
      return next;
    },
    async claimEnded(eventId: string) {
      const isEnd = (one: Outcome) => one.kind === 'handled' || one.kind === 'failed' || one.kind === 'discarded';
      await until('end of the claim', () => outcomes.find((one) => isEnd(one) && one.delivery?.event.id === eventId));
    },
    claiming: async () => void (await until('claim', () => claims || undefined)),
    async claimAgain({ method, headers, body: bytes }: SignedDelivery) {
      const begun = await receiver.begin({ method, headers, body: bytes });
      if ('response' in begun) return begun.response.status === 200 ? ('completed' as const) : ('in progress' as const);
      await begun.settle('failed');
      return 'acquired' as const;
    },
    noticed: async (kind: Notice['kind']) =>
      void (await until(`notice of ${kind}`, () => outcomes.find((outcome) => outcome.kind === kind))),
    working: async (times: number) => void (await until(`work ${times}`, () => worked[times - 1])),
    advance(ms: number) {
      clock.now += ms;
    },
  };
}

function isOf<Kind extends Decision['kind']>(
  kind: Kind,
  decision: Decision,
): decision is Extract<Decision, { kind: Kind }> {
  return decision.kind === kind;
}

function patiently<T>(complaint: () => string, call: () => Promise<T>): Promise<T> {
  return withTimeLimit(PATIENCE_MS, call, () => new BrokenRule(complaint()));
}

/** Lets callers wait until a condition is true. */
function createBell() {
  const waiting = new Set<() => void>();
  return {
    ring() {
      for (const look of waiting) look();
    },
    until<T>(find: () => T | undefined): Promise<T> {
      return new Promise((resolve) => {
        const look = () => {
          const found = find();
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/** Returns a delivery of a new event, or of a body, validly signed now. */
export function aDelivery(given: { body?: Uint8Array | string } & Partial<SignDeliveryInput> = {}): SignedDelivery {
  const { body = anEvent(), ...options } = given;
  return signDelivery({ ...options, body, event: undefined, secret: SECRET });
}

/** Returns a request for a delivery, with headers added or removed. */
export function aRequest(
  { method, headers, body }: Pick<SignedDelivery, 'method' | 'headers' | 'body'> = aDelivery(),
  changes: Record<string, string | undefined> = {},
): SentRequest & { body: Uint8Array } {
  const pairs = Object.entries({ ...headers, ...changes });
  return { method, headers: pairs.filter((pair): pair is [string, string] => pair[1] !== undefined), body };
}

/** Returns JSON that changes when it is parsed and written again, or decoded with the wrong charset. */
export function anEvent(more = ''): string {
  return (
    `{ "id": "evt_${crypto.randomUUID()}", "type": "stt.completed", "version": "${PAYLOAD_VERSION}", "jobId": "clip_1",\r\n` +
    ' "data": { "a": 1.0, "a": 12345678901234567890, "é": "caf\\u00e9 🎧\\/" ' +
    `${more} }, "timestamp": "${new Date().toISOString()}" }\r\n`
  );
}

export function mustBeBytes(found: Uint8Array | undefined, sent: Uint8Array): void {
  const same = found?.length === sent.length && sent.every((byte, i) => byte === found[i]);
  must(same, 'the bytes of the delivery must be those that were sent', found?.length);
}

/** Returns the status and the code of an answer, such as `401 missing_signature`. */
export function inShort({ status, text }: SentAnswer): string {
  try {
    return `${status} ${JSON.parse(text).error.code}`;
  } catch {
    return `${status}`;
  }
}

/** Sends a request, and checks the answer in short. */
export async function mustAnswer(app: Started, request: SentRequest, expected: string, what: string): Promise<void> {
  const found = inShort(await app.send(request));
  must(found === expected, what, found);
}

/** Checks that a delivery whose work throws a PermanentError is not retried, in a handler and in a route. */
export async function triesOnce(trial: AdapterTrial): Promise<void> {
  const app = await trial.start({
    work() {
      throw new PermanentError('no such clip');
    },
  });
  const delivery = aDelivery();
  for (const request of [delivery, delivery.again()]) {
    await mustAnswer(app, aRequest(request), '200', 'it must be acknowledged');
  }
  must(app.worked.length === 1, 'the work must be tried once', app.worked.length);
}
