import type { SimulatedFault } from './faults.js';
import type { InboxRecord } from './inbox-record.js';
import type { QueueModel } from './queue-model.js';
import type { Work, WorldRecord } from './record.js';
import type { SentEvents } from './sent-events.js';
import type { ServiceModel } from './service.js';
import type { StoreModel } from './store-models.js';
import type { Story } from './story.js';

/** The rules of every simulated world. */
export const WORLD_RULES = {
  handled: 'an acknowledged event is handled, or is a dead letter with its body',
  once: 'a write under an inbox takes effect exactly once',
  owner: 'no two owners of an event have one fence, and a worker settles only what it owns',
  health: 'the counts of health() agree with the answers of the receivers',
  delivered:
    'an event is acknowledged once there are no faults any more, unless it is a dead letter or its handler throws',
  expected: 'an expected job is handled, by its event or by a reconciliation, unless its handler throws',
  reconciled:
    'a job is handled by its event or by a reconciliation and not by both, where claims are shared and no fault can end one too early',
  rest: 'a world without faults comes to rest',
  uncaught: 'no error is left uncaught: Node would end the process',
  yours: 'the rule of your check',
} as const;

export type WorldRule = keyof typeof WORLD_RULES;

/** A rule that the world of a seed has broken. */
export interface BrokenWorldRule {
  rule: WorldRule;
  /** What broke it, in a sentence. */
  what: string;
  /** What your check threw. */
  error?: unknown;
}

export interface RuleParts {
  record: WorldRecord;
  inboxes: InboxRecord;
  story: Story;
  service: ServiceModel;
  model: StoreModel;
  /** The faults that have struck. */
  struck: ReadonlySet<SimulatedFault>;
  queue: QueueModel;
  events: SentEvents;
  calmAt: number;
}

/** By these, the claim of a handler may end before the handler does. */
const ENDS_CLAIMS: readonly SimulatedFault[] = ['crash', 'pause', 'slow call', 'failover'];

/** Returns the first rule that is broken by what happened until the world came to rest. */
export function findBrokenRule(parts: RuleParts): BrokenWorldRule | undefined {
  const { record, inboxes, story, service, queue, model, struck, events, calmAt } = parts;
  const { works } = record;
  const endsClaims = model === 'memory' || ENDS_CLAIMS.some((fault) => struck.has(fault));

  for (const one of events.sent) {
    const { event, subject, tenant } = one;
    const isAcknowledged = events.isAcknowledged(one);
    const isLost = events.isLost(one);
    const letter = queue.deadLetterOf(event, tenant);
    const name = `${story.nameOf(subject)} (${event.type})`;
    const own = works.filter((work) => work.subject === subject);
    const isDone = record.isHandled(subject);
    const ofNone =
      record.handledTypes === undefined
        ? 'no handler was passed through handlers(), and work() was not called'
        : 'no handler ran';
    const runs = own.length === 0 ? ofNone : `none of its ${own.length} runs came to its end`;
    if (isAcknowledged && !isDone && !letter?.hasBody) {
      return { rule: 'handled', what: `${name} was acknowledged, and ${runs}` };
    }
    const mayFail = own.some(({ isOwnFailure, endedAt = 0 }) => isOwnFailure && endedAt >= calmAt);
    // A handled event whose dead letter has lost its body is refused, because nothing is left that says that it was handled.
    const isKept = letter !== undefined && (letter.hasBody || isDone);
    if (!isAcknowledged && !isLost && !mayFail && !isKept) {
      return { rule: 'delivered', what: `${name} was refused at every attempt, although the last ones met no fault` };
    }
    if (service.jobs.get(subject)?.isExpected && !isDone && !mayFail) {
      return { rule: 'expected', what: `the job of ${name} was expected, and ${runs}` };
    }
    const problem = inboxes.problemOf(subject, isDone);
    if (problem !== undefined) return { rule: 'once', what: `of ${name}, ${problem}` };
    const shared = own.find((work, i) => own.slice(0, i).some((other) => haveOneFence(work, other)));
    if (shared !== undefined) return { rule: 'owner', what: `two owners of ${name} had the fence ${shared.fence}` };
    const handled = own.filter(({ ended }) => ended === 'handled').map((work) => work.event.id);
    if (!endsClaims && handled.includes(event.id) && handled.some((id) => id !== event.id)) {
      return { rule: 'reconciled', what: `a handler of ${name} has returned for its event, and for a reconciliation` };
    }
  }
  return undefined;
}

function haveOneFence(one: Work, other: Work): boolean {
  return one.fence > 0 && one.fence === other.fence && one.event.id === other.event.id;
}
