import type { FollowedJob, FollowedState } from '../dead-letters.js';
import type { DeliveryStream } from './delivery-stream.js';
import type { NatsMessage } from './jetstream.js';

/** Follows retried jobs by the records that their workers make, since JetStream does not tell which jobs have ended. */
export interface FollowedJobs {
  /** Puts the job of a dead letter back. Resolves to undefined where another call has put it back already. */
  retry(letterSeq: number, job: string): Promise<number | undefined>;
  /** Follows the job with this number, which has just been put back. */
  follow(seq: number): FollowedJob;
}

const RETRY = 'retry ';
const MOVED = /^(?:un)?readable \d{1,15} for (\d{1,15})$/;
const ENDED = /^ended (\d{1,15}) (done|dead)$/;

export function followedJobs(target: DeliveryStream): FollowedJobs {
  let records: Records | undefined;

  return {
    async retry(letterSeq, job) {
      // The stream takes this id once, so that of several calls one puts the job back.
      const { seq, isNew } = await target.publish(target.jobs, job, RETRY + letterSeq);
      return isNew ? seq : undefined;
    },

    follow(seq) {
      records ??= recordsFrom(target, seq);
      const { states, read, followers } = records;
      const job: FollowedJob = {
        async state() {
          if (!states.has(seq)) await read();
          return states.get(seq) ?? 'pending';
        },
        async close() {
          followers.delete(job);
          if (followers.size === 0 && records?.followers === followers) records = undefined;
        },
      };
      followers.add(job);
      return job;
    },
  };
}

/** Records how a job has ended, if an operator has retried it. A record that is lost changes nothing for the job. */
export async function recordEnd(target: DeliveryStream, message: NatsMessage, state: FollowedState): Promise<void> {
  const seq = followedSeq(message);
  if (seq === undefined) return;
  const record = `ended ${seq} ${state}`;
  await target.publish(target.starts, record, record).catch(() => {});
}

/** Returns the id with which a job is moved, so that it stays followed. */
export function movedId(to: 'unreadable' | 'readable', message: NatsMessage): string {
  const seq = followedSeq(message);
  return `${to} ${message.seq}${seq === undefined ? '' : ` for ${seq}`}`;
}

/** Returns the number under which an operator follows a job. */
function followedSeq({ seq, headers }: NatsMessage): number | undefined {
  const id = headers?.get('Nats-Msg-Id') ?? '';
  if (id.startsWith(RETRY)) return seq;
  const [, moved] = MOVED.exec(id) ?? [];
  return moved === undefined ? undefined : Number(moved);
}

/** The records from a number on, which are read once for all jobs that are followed. */
interface Records {
  readonly states: ReadonlyMap<number, FollowedState>;
  readonly followers: Set<FollowedJob>;
  /** Reads the records that are new. */
  read(): Promise<void>;
}

function recordsFrom({ next, starts }: DeliveryStream, first: number): Records {
  const states = new Map<number, FollowedState>();
  let from = first;
  let reading: Promise<void> | undefined;

  async function readNew(): Promise<void> {
    for (let record = await next(starts, from); record; record = await next(starts, from)) {
      const [, seq, state] = ENDED.exec(record.string()) ?? [];
      if (seq !== undefined) states.set(Number(seq), state as FollowedState);
      from = record.seq + 1;
    }
  }

  return {
    states,
    followers: new Set(),
    read() {
      reading ??= readNew().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}
