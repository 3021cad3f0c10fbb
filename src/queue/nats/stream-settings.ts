import { MIN_RETAIN_MS } from '../../endpoint.js';
import { WebhookError } from '../../errors.js';
import type { NatsStreamConfig } from './jetstream.js';

const NANOS_PER_SECOND = 1_000_000_000;
const MIN_WINDOW_NANOS = (MIN_RETAIN_MS / 1_000) * NANOS_PER_SECOND;

/** @throws WebhookError `invalid_option` for the first setting with which deliveries would be lost or run twice */
export function checkStream(stream: string, subjects: readonly string[], config: NatsStreamConfig): void {
  const { max_bytes, max_msgs, max_msgs_per_subject } = config;
  const isLimited = Math.max(max_bytes, max_msgs, max_msgs_per_subject) > 0;
  const missing = subjects.filter((subject) => !takes(config.subjects ?? [], subject, stream));
  const edit = `Run 'nats stream edit ${stream}`;
  const another = 'Delete the stream, so that init() creates it, or use another name';
  const problems: [isWrong: boolean, problem: string, fix: string][] = [
    [config.retention !== 'limits', `deletes finished jobs (retention ${config.retention}) and their keys`, another],
    [config.storage !== 'file', 'is in memory, and is lost when NATS ends', another],
    [
      config.duplicate_window < MIN_WINDOW_NANOS,
      `forgets keys after ${config.duplicate_window / NANOS_PER_SECOND} s (duplicate_window), and the service retries for 5 h 15 min`,
      `${edit} --dupe-window=12h'`,
    ],
    [config.max_age > 0, 'drops jobs that wait too long (max_age)', `${edit} --max-age=0'`],
    [
      config.discard !== 'new' && isLimited,
      'drops the oldest jobs when it is full (discard old)',
      `${edit} --discard=new'`,
    ],
    [missing.length > 0, `does not take ${missing.join(', ')}`, `${edit} --subjects=${subjects.join(',')}'`],
  ];
  const [first] = problems.filter(([isWrong]) => isWrong);
  if (first === undefined) return;
  const [, problem, fix] = first;
  throw new WebhookError('invalid_option', { message: `The stream '${stream}' of NATS ${problem}.`, hint: `${fix}.` });
}

function takes(patterns: readonly string[], subject: string, stream: string): boolean {
  return [subject, `${stream}.*`, `${stream}.>`].some((pattern) => patterns.includes(pattern));
}
