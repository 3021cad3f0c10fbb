import type { Entry } from '../entry.js';
import type { Table, Written } from './client.js';
import { type Item, ofText } from './item.js';
import { itemOfRow, type Row, rowOf } from './row.js';

/** An answer, and the row that is written before it is given. */
export interface Decision<Answer> {
  answer: Answer;
  write?: Entry | undefined;
}

const MAX_TRIES = 10;

/**
 * Decides on the row that was found. What it decides is written where the row is still that one; otherwise it decides again,
 * on the row that is there instead. A client that sends a write again finds the version that it has written.
 */
export async function decide<Answer>(
  table: Table,
  key: string,
  item: Item | undefined,
  decideOn: (found: Entry | undefined, now: number) => Decision<Answer>,
): Promise<Answer> {
  let row: Row | undefined = item && rowOf(item);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const now = Date.now();
    const { answer, write } = decideOn(row?.entry, now);
    if (write === undefined) return answer;
    const version = crypto.randomUUID();
    const condition = row
      ? { if: 'rowVersion = :found', values: { ':found': ofText(row.version) } }
      : { if: 'attribute_not_exists(pk)' };
    const written = await table.put(itemOfRow(key, { entry: write, version }, now), condition);
    if (written.made) return answer;
    row = written.found && rowOf(written.found);
    if (row?.version === version) return answer;
  }
  throw new Error(`the row changed ${MAX_TRIES} times during one call`);
}

/** A change of some attributes of a row. The values of `set` are those of the condition too, such as `:expiresAt`. */
export interface RowUpdate {
  set: Item;
  remove?: string;
  if: string;
  values?: Item;
}

/** Changes a row where it meets a condition. A client that sends it again finds the version that it has written. */
export async function updateRow(
  table: Table,
  key: string,
  { set, remove, if: condition, values }: RowUpdate,
): Promise<Written> {
  const version = crypto.randomUUID();
  const changes = Object.entries({ ...set, rowVersion: ofText(version) });
  const update = `SET ${changes.map(([name]) => `${name} = :${name}`)}${remove ? ` REMOVE ${remove}` : ''}`;
  const written = await table.update(key, update, {
    if: condition,
    values: { ...Object.fromEntries(changes.map(([name, value]) => [`:${name}`, value])), ...values },
  });
  const isOwn = !written.made && written.found !== undefined && rowOf(written.found).version === version;
  return isOwn ? { made: true } : written;
}
