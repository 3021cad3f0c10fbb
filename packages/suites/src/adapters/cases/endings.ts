import { isAcknowledged } from 'service-webhooks/service';
import type { SignedDelivery } from 'service-webhooks/testing';
import { must } from '../../define-suite.js';
import { createGate } from '../../waiting.js';
import type { AdapterSuiteOptions, RouteEnding } from '../adapter-under-test.js';
import type { Sending } from '../send.js';
import { type AdapterTrialCase, aDelivery, aRequest, type Started } from '../trial.js';

/** When the sender disconnects. */
type Leaving = keyof typeof LEAVINGS;

const LEAVINGS = {
  stays: 'the sender stays',
  claim: 'the sender leaves during the claim',
  route: 'the sender leaves during the route',
  response: 'the sender leaves during the response',
} as const;

/**
 * The end of the claim:
 * - `completed`, `released`, or `leased`, which is left to its lease
 * - `not completed`: released or leased, as the framework ends the response
 * - `answered`: as the answer that the sender received, because the framework decides what becomes of the route
 */
type Settled = 'completed' | 'released' | 'leased' | 'not completed' | 'answered';

const KEPT = 'kept, then ';
/** The claim does not end as long as the route works. */
type Kept = `${typeof KEPT}${Settled}`;

type End = Settled | Kept;

/** The end where the adapter has an ability, and where it lacks it. */
interface ByAbility {
  ability: 'throws' | 'late' | 'breaks';
  able: End;
  otherwise: End;
}

interface Row {
  /** What the route does, as the rest of a sentence. */
  says: string;
  ending?: RouteEnding;
  status?: number;
  throws?: boolean;
  /** The route works until the claim has been looked at. */
  hangs?: boolean;
  breaks?: boolean;
  /** What other code answers, and when. */
  other?: { status: number; during: 'claim' | 'route' };
  /** How often the route runs. Default: once, or never where the sender leaves during the claim. */
  runs?: number;
  /** The ends of the claim. Where one is missing, it cannot happen; but before any work a claim is always released. */
  ends: { [When in Leaving]?: End | ByAbility };
}

const REFUSED: Row['ends'] = { stays: 'released', route: { ability: 'late', able: 'released', otherwise: 'leased' } };
const FAILED: Row['ends'] = { stays: 'released', route: { ability: 'throws', able: 'released', otherwise: 'leased' } };

const ROWS: readonly Row[] = [
  { says: 'answers 2xx', status: 200, ends: { stays: 'completed', route: 'leased', response: 'leased' } },
  { says: 'answers 3xx', status: 302, ends: { ...REFUSED, response: 'released' } },
  { says: 'answers 4xx', status: 404, ends: { ...REFUSED, response: 'released' } },
  { says: 'answers 5xx', status: 503, ends: { ...REFUSED, response: 'released' } },
  { says: 'throws at once', ending: 'throws at once', ends: { stays: 'released' } },
  { says: 'rejects', throws: true, ends: FAILED },
  {
    says: 'returns an error of the framework',
    ending: 'returns an error',
    ends: { stays: 'released', route: 'not completed' }, // the error may be an answer
  },
  {
    says: 'answers and then throws',
    ending: 'answers and throws',
    ends: {
      stays: 'completed',
      route: { ability: 'throws', able: 'released', otherwise: 'leased' },
      response: 'not completed', // a framework may answer the error too
    },
  },
  {
    says: 'works for long',
    hangs: true,
    ends: {
      stays: 'kept, then completed',
      route: { ability: 'throws', able: 'kept, then leased', otherwise: 'leased' },
    },
  },
  {
    says: 'streams an answer that breaks',
    ending: 'streams',
    breaks: true,
    ends: {
      stays: { ability: 'breaks', able: 'released', otherwise: 'not completed' },
      route: 'not completed',
      response: 'not completed',
    },
  },
  {
    says: 'streams an answer to its end',
    ending: 'streams',
    ends: { stays: 'completed', route: 'not completed', response: 'not completed' }, // a stream that breaks is an error
  },
  { says: 'is called by two calls of next()', ending: 'calls next twice', ends: { stays: 'answered' } },
  {
    says: 'answers 5xx and then sets 2xx',
    ending: 'answers twice',
    status: 503,
    ends: { stays: 'released' },
  },
  {
    says: 'answers 2xx and then sets 5xx',
    ending: 'answers twice',
    status: 200,
    ends: { stays: 'completed' },
  },
  {
    says: 'comes after other code has refused',
    ending: 'other code answers',
    other: { status: 503, during: 'claim' },
    runs: 0,
    ends: { stays: 'released', claim: 'released' },
  },
  {
    says: 'comes after other code has acknowledged',
    ending: 'other code answers',
    other: { status: 202, during: 'claim' },
    runs: 1,
    ends: { stays: 'completed', claim: 'completed' },
  },
  {
    says: 'works on after other code has refused',
    ending: 'other code answers',
    other: { status: 503, during: 'route' },
    hangs: true,
    ends: { stays: { ability: 'throws', able: 'kept, then released', otherwise: 'released' } },
  },
];

/** Every way in which a route can end, with every moment at which its sender can leave. */
export const endings: readonly AdapterTrialCase[] = ROWS.flatMap((row) => {
  const ends: Row['ends'] = row.other ? row.ends : { ...row.ends, claim: 'released' };
  const leavings = Object.keys(ends) as Leaving[];
  return leavings.map((leaving) => toCase(row, leaving, ends[leaving] as End | ByAbility));
});

const LEASE_MS = 25_000;
const LARGE_BYTES = 16 * 1024 * 1024; // more than the buffers of a connection hold
let large: Uint8Array<ArrayBuffer> | undefined;

function toCase(row: Row, leaving: Leaving, end: End | ByAbility): AdapterTrialCase {
  const { other } = row;
  // A plain answer is over too soon to leave during it.
  const ending = row.ending ?? (leaving === 'response' ? 'sends bytes' : undefined);
  return {
    name: `the claim ends by what was sent where the route ${row.says} and ${LEAVINGS[leaving]}`,
    rules: ['A8'],
    appliesTo: ({ form }) => form === 'middleware',
    skip: ({ without, endings: played = [] }) =>
      (leaving === 'stays' ? undefined : without?.hangUp) ??
      (ending && !played.includes(ending) ? `serve() does not play '${ending}'` : undefined),
    async run({ options, start }) {
      const [another, claim, work, rest] = [createGate(), createGate(), createGate(), createGate()];
      const app = await start({
        ending,
        otherAnswer: another.opened.then(() => other?.status ?? 503),
        claimAfter: claim.opened,
        async work() {
          await work.opened;
          if (row.throws) throw new Error('the route throws');
          return row.status ?? 200;
        },
        body() {
          if (ending === 'streams') return chunks(rest.opened, row.breaks);
          if (leaving !== 'response') return new Uint8Array(1);
          large ??= new Uint8Array(LARGE_BYTES);
          return large;
        },
      });
      const delivery = aDelivery();
      const sending = app.begin(aRequest(delivery), { hold: leaving === 'response' });
      const leave = () => {
        sending.hangUp();
        return visit(app);
      };
      const otherAnswers = () => {
        another.open();
        return sending.answer;
      };

      await app.claiming();
      if (other?.during === 'claim') await otherAnswers();
      if (leaving === 'claim') await leave();
      claim.open();
      if (other?.during === 'route' || leaving === 'route') await app.working(1);
      if (other?.during === 'route') await otherAnswers();
      if (leaving === 'route') await leave();
      if (!row.hangs) work.open();
      if (leaving === 'response') {
        await sending.begun;
        await leave();
      }
      if (ending === 'streams' && leaving === 'stays') await sending.begun;
      rest.open();
      // An answer that breaks may stay open, until its sender waits no longer.
      if (row.breaks && options.without?.breaks !== undefined) await leave();

      const expected = endFor(end, options);
      const isKept = expected.startsWith(KEPT);
      if (isKept) await mustBeKept(app, delivery);
      work.open();
      await mustEnd(app, delivery, expected.slice(isKept ? KEPT.length : 0) as Settled, sending);
      if (ending === 'calls next twice') return;
      await visit(app);
      const runs = row.runs ?? (leaving === 'claim' ? 0 : 1);
      must(app.worked.length === runs, `the route must run ${runs} times`, app.worked.length);
    },
  };
}

function endFor(end: End | ByAbility, { without = {} }: AdapterSuiteOptions): End {
  if (typeof end === 'string') return end;
  return without[end.ability] === undefined ? end.able : end.otherwise;
}

async function mustBeKept(app: Started, delivery: SignedDelivery): Promise<void> {
  await app.working(1);
  await visit(app);
  const found = await app.claimAgain(delivery.again());
  must(found === 'in progress', 'the claim must be kept while the route works', found);
}

async function mustEnd(app: Started, delivery: SignedDelivery, end: Settled, sending: Sending): Promise<void> {
  await app.claimEnded(JSON.parse(new TextDecoder().decode(delivery.body)).id);
  const found = await app.claimAgain(delivery.again());
  if (end === 'answered') {
    const answer = await sending.answer.catch(() => ({ status: 0 }));
    must(isAcknowledged(answer) === (found === 'completed'), `an answer ${answer.status} must decide`, found);
    return;
  }
  const expected: Record<typeof end, readonly (typeof found)[]> = {
    completed: ['completed'],
    released: ['acquired'],
    leased: ['in progress'],
    'not completed': ['acquired', 'in progress'],
  };
  must(expected[end].includes(found), `the claim must be ${end}`, found);
  if (found !== 'in progress') return;
  app.advance(LEASE_MS);
  const later = await app.claimAgain(delivery.again());
  must(later === 'acquired', 'after its lease the claim must be free', later);
}

/** Sends another request and waits for its end: by then the app has noticed what happened before. */
async function visit(app: Started): Promise<void> {
  await app.send(aRequest({ ...aDelivery(), headers: {} })).catch(() => {});
}

async function* chunks(rest: Promise<void>, breaks = false): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield new Uint8Array(1);
  await rest;
  if (breaks) throw new Error('the answer breaks');
  yield new Uint8Array(1);
}
