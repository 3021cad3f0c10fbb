import { isAccepted, NO_HANDLER_RAN, noHandlerRan, pageOf } from '../../http/answer.js';
import type { SendResult } from '../../http/deliver.js';
import type { Piece, Sink } from '../../output.js';
import type { Session } from '../../session.js';

/**
 * Sends a number of deliveries, several at once, and resolves to their results. More than one have a progress bar, and a
 * summary at the end, also where a failure ends the series.
 *
 * @param send Sends one delivery, which may take several requests.
 */
export async function sendSeries(
  session: Session,
  { count, concurrency }: { count: number; concurrency: number },
  send: () => AsyncIterable<SendResult>,
): Promise<readonly SendResult[]> {
  const all: SendResult[] = [];
  const bar = createProgressBar(session.stderr, count, count > 1 && !session.out.json);
  const begun = performance.now();
  try {
    await inParallel(count, concurrency, async () => {
      for await (const sent of send()) all.push(lighter(sent));
      bar.step();
    });
  } finally {
    bar.end();
    if (count > 1) session.out.record(...summaryOf(all, performance.now() - begun));
  }
  return all;
}

/** Removes what the summary does not need, because a series may be long. */
function lighter(sent: SendResult): SendResult {
  if (sent.status === undefined) return sent;
  const body = noHandlerRan(sent) ? sent.body : pageOf(sent.body) === undefined ? '' : '<html>';
  return { ...sent, headers: {}, body };
}

/**
 * Runs a task a number of times, several at once. Rejects with the first rejection, and starts no further task then.
 */
export async function inParallel(
  count: number,
  concurrency: number,
  task: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await task(next - 1).catch((error) => {
        next = count;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, concurrency) }, worker));
}

/** Returns the summary of many deliveries as one record and several lines. */
export function summaryOf(all: readonly SendResult[], tookMs: number): [record: object, ...lines: Piece[][]] {
  const acknowledged = all.filter(isAccepted).length;
  const answers: Record<string, number> = {};
  for (const sent of all) {
    const key = sent.problem ?? wordsOf(sent);
    answers[key] = (answers[key] ?? 0) + 1;
  }
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const ms = { median: at(0.5), p99: at(0.99), most: at(1) };
  const seconds = Math.round(tookMs) / 1000;
  const style =
    all.length === 0 ? 'warn' : acknowledged < all.length ? 'bad' : all.some(noHandlerRan) ? 'warn' : 'good';
  return [
    { kind: 'summary', sent: all.length, acknowledged, answers, ms, seconds },
    [
      [style, `${acknowledged} of ${all.length} acknowledged`],
      ['faint', `in ${seconds} s`],
    ],
    ...Object.entries(answers).map(([answer, times]): Piece[] => [`  ${answer}`, `${times} times`]),
    [['faint', `  ${ms.median} ms median, ${ms.p99} ms for 99 %, ${ms.most} ms at most`]],
  ];
}

function wordsOf(sent: SendResult & { status: number }): string {
  const words = noHandlerRan(sent) ? NO_HANDLER_RAN : pageOf(sent.body);
  return words === undefined ? String(sent.status) : `${sent.status} ${words}`;
}

const WIDTH = 30;
const REDRAW_MS = 100;

interface ProgressBar {
  step(): void;
  /** Removes it from the screen. */
  end(): void;
}

/** Shows progress on a terminal, and nothing elsewhere. */
export function createProgressBar(sink: Sink, total: number, enabled: boolean): ProgressBar {
  if (!enabled || !sink.isTTY) return { step() {}, end() {} };
  let done = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    step() {
      done += 1;
      if (performance.now() - drawn < REDRAW_MS && done < total) return;
      drawn = performance.now();
      const full = Math.floor((done / total) * WIDTH);
      sink.write(`\r\u001b[K${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${done} of ${total}`);
    },
    end: () => void sink.write('\r\u001b[K'),
  };
}
