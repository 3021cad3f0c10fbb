import type { LetterRow } from '../../queue-source.js';

/** The type of an event, or why there is none. */
export function typeWords({ type, notShown }: Pick<LetterRow, 'type' | 'notShown'>): string {
  return type ?? (notShown === undefined ? 'not an event' : 'body not shown');
}
