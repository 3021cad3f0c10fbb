import type { LetterRow as Row } from '../../queue-source.js';
import { counted } from '../format.js';
import { Ago } from './ago.js';
import { select } from './queue-connection.js';
import { useView } from './queue-hooks.js';
import { typeWords } from './type-words.js';

/** A job in a list, which opens it. */
export function LetterRow({ row, hasReason = false }: { row: Row; hasReason?: boolean }) {
  const isSelected = useView(({ selected }) => selected === row.handle);
  const { handle, id, shortId, eventId, tenant, at, attempts, reason } = row;
  return (
    <li>
      <button
        type="button"
        class="letter-row"
        data-row={handle}
        aria-current={isSelected ? 'true' : undefined}
        onClick={() => select(handle)}
      >
        <span class="letter-type">{typeWords(row)}</span> <Ago at={at} />{' '}
        <span class="facts">
          {eventId !== undefined && (
            <>
              <code>{eventId}</code> ·{' '}
            </>
          )}
          {tenant !== undefined && `of ${tenant} · `}
          <code title={id}>#{shortId}</code>
          {attempts !== undefined && ` · ${counted(attempts, 'attempt')}`}
        </span>
        {hasReason && reason !== undefined && <span class="why"> {reason}</span>}
      </button>
    </li>
  );
}
