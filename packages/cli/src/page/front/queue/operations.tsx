import { useEffect, useRef, useState } from 'preact/hooks';
import type { Operation } from '../../queue-source.js';
import { counted } from '../format.js';
import { LetterRow } from './letter-row.js';
import { cancel, dismiss } from './queue-connection.js';
import { useView } from './queue-hooks.js';

/** The changes of this run and their results, the newest first. */
export function Operations() {
  const operations = useView(({ queue }) => queue?.operations) ?? NONE;
  return (
    <>
      <Ended operations={operations} />
      {operations.length > 0 && (
        <ul class="operations" aria-label="Retries and discards">
          {operations.map((operation) => (
            <Card key={operation.id} operation={operation} />
          ))}
        </ul>
      )}
    </>
  );
}

const NONE: readonly Operation[] = [];

/** Announces the end of a change to screen readers, and not each number before it. */
function Ended({ operations }: { operations: readonly Operation[] }) {
  const known = useRef(new Set<number>());
  const [last, setLast] = useState<Operation>();
  useEffect(() => {
    const ended = operations.filter(({ id, phase }) => phase === 'ended' && !known.current.has(id));
    for (const { id } of ended) known.current.add(id);
    if (ended[0]) setLast(ended[0]);
  }, [operations]);
  return (
    <p role="status" class="unseen">
      {last && (
        <>
          {titleOf(last)} ended: <Result operation={last} />
        </>
      )}
    </p>
  );
}

function titleOf({ kind, total }: Operation): string {
  return `${kind === 'retry' ? 'Retry' : 'Discard'} of ${counted(total, 'letter')}`;
}

function Card({ operation }: { operation: Operation }) {
  const { id, kind, phase, total, changed, gone, isFollowed, handled, dead, deadAgain, problem } = operation;
  const done = kind === 'retry' && isFollowed ? gone + handled + dead : gone + changed;
  return (
    <li class={`operation ${phase}`}>
      <div class="operation-head">
        <strong>{titleOf(operation)}</strong>
        <span class="result">
          <Result operation={operation} />
        </span>
        {phase === 'ended' ? (
          <button type="button" class="small" aria-label="Remove this result" onClick={() => dismiss(id)}>
            Dismiss
          </button>
        ) : (
          <button
            type="button"
            class="small"
            title={phase === 'following' ? 'The retries go on' : undefined}
            onClick={() => cancel(id)}
          >
            {phase === 'changing' ? 'Cancel' : 'Stop watching'}
          </button>
        )}
      </div>
      {phase !== 'ended' && <progress max={total} value={done} aria-label="Progress" />}
      {problem !== undefined && <p class="problem">{problem}</p>}
      <NewReasons letters={deadAgain} />
      {deadAgain.length > 0 && (
        <details>
          <summary>
            Show the {dead > deadAgain.length && 'first '}
            {deadAgain.length}
          </summary>
          <ul class="letters">
            {deadAgain.map((row) => (
              <LetterRow key={row.handle} row={row} hasReason />
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

const MOST_REASONS = 3;

/** Why letters died again, the most frequent reason first. */
function NewReasons({ letters }: { letters: Operation['deadAgain'] }) {
  const counts = new Map<string, number>();
  for (const { reason } of letters) if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_REASONS);
  if (reasons.length === 0) return null;
  return (
    <ul class="new-reasons" aria-label="Why they died again">
      {reasons.map(([reason, count]) => (
        <li key={reason}>
          {count > 1 && `${count} × `}
          {reason}
        </li>
      ))}
    </ul>
  );
}

/** The result in a sentence: `12 handled, 3 dead again, 2 still waiting`. */
function Result({ operation }: { operation: Operation }) {
  const { kind, phase, total, changed, gone, isFollowed, handled, waiting, dead, isCancelled } = operation;
  const engine = useView(({ queue }) => queue?.engine);
  const left = total - changed - gone;
  const parts = [
    kind === 'discard' && ['', `${changed.toLocaleString()} discarded`],
    kind === 'retry' && !isFollowed && ['', `${changed.toLocaleString()} retried`],
    kind === 'retry' && isFollowed && ['good', `${handled.toLocaleString()} handled`],
    dead > 0 && ['bad', `${dead.toLocaleString()} dead again`],
    waiting > 0 && ['pending', `${waiting.toLocaleString()} ${phase === 'ended' ? 'were' : 'still'} waiting`],
    gone > 0 && ['', `${gone.toLocaleString()} gone`],
    left > 0 && [
      '',
      phase === 'changing' ? `${left.toLocaleString()} to go` : `${left.toLocaleString()} left as they were`,
    ],
    isCancelled && ['', 'cancelled'],
  ].filter((part) => part !== false);
  return (
    <>
      {parts.map(([style, text], at) => (
        <span key={at}>
          {at > 0 && ', '}
          <span class={style}>{text}</span>
        </span>
      ))}
      {kind === 'retry' && !isFollowed && phase === 'ended' && `. ${engine} does not say how they end.`}
    </>
  );
}
