import type { Ended, Fields } from '../../support/cli.js';

/** Returns a command that has ended with the record that sums up the others apart from them. */
export function summedUp(ended: Ended): Ended & { sum: Fields | undefined } {
  const last = ended.records.at(-1);
  const isSum = last?.['kind'] === 'total' || last?.['kind'] === 'result';
  return { ...ended, sum: isSum ? last : undefined, records: isSum ? ended.records.slice(0, -1) : ended.records };
}
