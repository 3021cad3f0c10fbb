import type { SendResult } from '../http/deliver.js';
import { isAcknowledged } from '../service/acknowledged.js';
import type { Piece } from './output.js';

/** Returns the summary of many deliveries as one record and several lines. */
export function summaryOf(all: readonly SendResult[], tookMs: number): [record: object, ...lines: Piece[][]] {
  const acknowledged = all.filter(isAcknowledged).length;
  const answers: Record<string, number> = {};
  for (const { status, problem } of all) {
    const key = problem ?? String(status);
    answers[key] = (answers[key] ?? 0) + 1;
  }
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const ms = { median: at(0.5), p99: at(0.99), most: at(1) };
  const seconds = Math.round(tookMs) / 1000;
  const style = acknowledged === all.length ? 'good' : 'bad';
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
