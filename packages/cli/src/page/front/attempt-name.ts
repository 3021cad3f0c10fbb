import type { AttemptRow } from '../page-source.js';

/** Returns what an attempt is called in headings and lists. */
export function attemptName({ number, kind }: Pick<AttemptRow, 'number' | 'kind'>): string {
  if (kind === 'replay') return `Attempt ${number}, sent again from this page`;
  return kind === 'duplicate' ? `Attempt ${number}, a duplicate` : `Attempt ${number}`;
}
