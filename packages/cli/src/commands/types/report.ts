import { counted, type Output, type Piece, shortened } from '../../output.js';
import { type ChangedLine, changedLines } from './changed-lines.js';
import type { Format } from './dialects.js';
import type { LearnedTypes, TypeCount } from './learn-types.js';

/** Prints for people what they should check: which keys are data, and what was left out. */
export function noteFindings(out: Output, { unknownTypes, records, missing, read }: LearnedTypes): void {
  for (const { type, path } of records) out.note(`${type}: the keys of ${path} are data, so it is a record.`);
  for (const path of missing) out.note(['warn', `No delivery has an object at ${path}: check the path of --record.`]);
  for (const { type, deliveries } of unknownTypes) {
    const left = counted(deliveries, 'delivery was', 'deliveries were');
    out.note(['warn', `${shortened(type, 60)} is no event type that this version knows: ${left} left out.`]);
  }
  if (read.left > 0) out.note(`${counted(read.left, 'delivery', 'deliveries')} without an event: left out.`);
  if (read.oldest !== undefined) out.note(`Only the oldest ${read.oldest} dead letters were read.`);
}

/** Prints the text itself, as a field of the record for programs. What it was learned from goes to stderr. */
export function reportText(out: Output, learned: LearnedTypes, { format, text }: { format: Format; text: string }) {
  if (out.json) return out.record({ kind: 'types', format, ...fieldsOf(learned), text });
  out.verbatim(text);
  for (const count of learned.types) out.note(...typeLine(count));
}

interface ReportedFile {
  file: string;
  format: Format;
  /** What is, or was, in the file; undefined where there was none. */
  present: string | undefined;
  text: string;
  /** The command that writes the file, where it was only checked. */
  writtenBy: string | undefined;
}

/** Prints whether the file has changed or would change, and how. */
export function reportFile(out: Output, learned: LearnedTypes, reported: ReportedFile): void {
  const { file, format, present, text, writtenBy } = reported;
  const changes = present === undefined ? [] : changedLines(present, text);
  const state =
    present === text
      ? 'up to date'
      : writtenBy === undefined
        ? 'written'
        : present === undefined
          ? 'missing'
          : 'differs';
  const isGood = state === 'up to date' || state === 'written';
  const record = { kind: 'types', file, format, state, ...fieldsOf(learned), changes };
  out.record(record, [[isGood ? 'good' : 'bad', state], file], ...learned.types.map(typeLine), ...changeLines(changes));
  if (!isGood) out.note(`To write it, run: ${writtenBy}`);
}

function fieldsOf({ types, unknownTypes, records, missing: missingRecords, read }: LearnedTypes) {
  const { left: withoutEvent, oldest } = read;
  return { types, unknownTypes, records, missingRecords, withoutEvent, oldest };
}

function typeLine({ type, deliveries }: TypeCount): Piece[] {
  const isOne = deliveries === 1;
  const count = counted(deliveries, 'delivery', 'deliveries');
  return ['  ', type, count, isOne && ['warn', 'one alone does not show which fields are optional']];
}

const MOST_CHANGES = 50;

function changeLines(changes: readonly ChangedLine[]): Piece[][] {
  const lines = changes.slice(0, MOST_CHANGES).map(({ path, change, text }): Piece[] => {
    return ['  ', path, change === 'added' ? ['good', `+ ${text}`] : ['bad', `- ${text}`]];
  });
  if (changes.length > MOST_CHANGES) lines.push(['  ', `and ${changes.length - MOST_CHANGES} other changes`]);
  return lines;
}
