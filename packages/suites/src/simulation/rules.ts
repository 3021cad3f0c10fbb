import type { WebhookEvent } from 'service-webhooks';
import type { WorldRecord } from './record.js';
import type { Story } from './story.js';

/** The rules of every simulated world. */
export const WORLD_RULES = {
  handled: 'an acknowledged event is handled, or is a dead letter with its body',
  once: 'a write under an inbox takes effect exactly once',
  owner: 'no two owners of an event have one fence, and a worker settles only what it owns',
  health: 'the counts of health() agree with the answers of the receivers',
  delivered:
    'an event is acknowledged once there are no faults any more, unless it is a dead letter or its handler throws',
  rest: 'a world without faults comes to rest',
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
  story: Story;
  /** Returns the dead letter of an event, where it has one. */
  deadLetterOf(event: WebhookEvent): { hasBody: boolean } | undefined;
  events: readonly WebhookEvent[];
  /** Returns whether the delivery of an event ended with a 2xx. */
  isAcknowledged(event: WebhookEvent): boolean;
  calmAt: number;
}

/** Returns the first rule that is broken by what happened until the world came to rest. */
export function findBrokenRule({ record, story, events, calmAt, ...parts }: RuleParts): BrokenWorldRule | undefined {
  const { works, writes, underInbox, handledTypes } = record;

  for (const event of events) {
    const isAcknowledged = parts.isAcknowledged(event);
    const letter = parts.deadLetterOf(event);
    const name = `${story.nameOf(event.id)} (${event.type})`;
    const own = works.filter((work) => work.event.id === event.id);
    const isDone = own.some(({ ended }) => ended === 'handled' || ended === 'discarded');
    if (isAcknowledged && !isDone && hasHandler(event) && !letter?.hasBody) {
      const runs = own.length === 0 ? 'no handler ran' : `none of its ${own.length} runs came to its end`;
      return { rule: 'handled', what: `${name} was acknowledged, and ${runs}` };
    }
    const mayFail = own.some(({ ended, endedAt = 0 }) => ended === 'failed' && endedAt >= calmAt);
    // A handled event whose dead letter has lost its body is refused, because nothing is left that says that it was handled.
    const isKept = letter !== undefined && (letter.hasBody || isDone);
    if (!isAcknowledged && !mayFail && !isKept) {
      return { rule: 'delivered', what: `${name} was refused at every attempt, although the last ones met no fault` };
    }
    for (const { eventId, what, effects } of writes.values()) {
      if (eventId !== event.id || !underInbox.has(eventId)) continue;
      const isMissing = effects === 0 && isAcknowledged && letter === undefined;
      if (effects > 1 || isMissing) return { rule: 'once', what: `${what} of ${name} took effect ${effects} times` };
    }
    const fences = own.map(({ fence }) => fence).filter((fence) => fence > 0);
    const shared = fences.find((fence, i) => fences.indexOf(fence) !== i);
    if (shared !== undefined) return { rule: 'owner', what: `two owners of ${name} had the fence ${shared}` };
  }
  return undefined;

  function hasHandler({ type }: WebhookEvent): boolean {
    return handledTypes === undefined || handledTypes.has(type) || handledTypes.has('*');
  }
}
