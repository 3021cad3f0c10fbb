import type { Change, DeliveryRow } from './page-source.js';

/** Finds the changes between two versions of a list. */
export interface Differ {
  /** The rows of the last version, in their order. */
  readonly rows: Iterable<DeliveryRow>;
  /** Returns the changes since the last version. */
  see(rows: readonly DeliveryRow[]): Pick<Change, 'deliveries' | 'removed'>;
}

export function createDiffer(): Differ {
  let known = new Map<string, DeliveryRow>();
  return {
    get rows() {
      return known.values();
    },
    see(rows) {
      const seen = new Map(rows.map((row) => [row.id, row]));
      const deliveries = rows.filter((row) => !isSame(row, known.get(row.id)));
      const removed = [...known.keys()].filter((id) => !seen.has(id));
      known = seen;
      return { deliveries, removed };
    },
  };
}

function isSame(row: DeliveryRow, other: DeliveryRow | undefined): boolean {
  if (other === undefined) return false;
  for (const field in row) {
    if (row[field as keyof DeliveryRow] !== other[field as keyof DeliveryRow]) return false;
  }
  return true;
}
