import type { LetterDetails } from '../../queue-source.js';
import { dateAndTimeOf } from '../format.js';
import { Body, HeaderTable } from '../http-message.js';
import { ChangeButton } from './change-button.js';
import { Copy } from './copy.js';
import { change, select } from './queue-connection.js';
import { useView } from './queue-hooks.js';
import { type QueueViewState, set, shownList } from './queue-store.js';
import { typeWords } from './type-words.js';
import { useFocusPassed } from './use-focus-passed.js';

/** Shows everything about the selected letter or job. */
export function Letter() {
  const word = useView(({ tab }) => (tab === 'dead' ? 'letter' : 'job'));
  const isEmpty = useView(isListEmpty);
  const selected = useView((state) => state.selected);
  const details = useView((state) => (state.details?.handle === state.selected ? state.details : undefined));
  return (
    <section id="letter" class="delivery letter" aria-label={`The selected ${word}`} tabIndex={-1}>
      {selected !== undefined ? (
        <p class="back">
          <button type="button" onClick={() => select(undefined)}>
            ← Back to the list
          </button>
        </p>
      ) : isEmpty ? null : (
        <div class="empty">
          <p>
            Select a {word} to see its body{word === 'letter' && ' and why it died'}.
          </p>
          <p class="keys">
            <kbd>j</kbd> and <kbd>k</kbd> go through the list, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches.
          </p>
        </div>
      )}
      {details?.problem !== undefined && (
        <p class="empty">
          This {word} cannot be shown: {details.problem}
        </p>
      )}
      {details?.found && <Details letter={details.found} />}
    </section>
  );
}

/** Where there is nothing to select. */
function isListEmpty(state: QueueViewState): boolean {
  const { tab, queue, jobs, text } = state;
  if (tab !== 'dead') return !jobs?.page?.rows.length;
  return text.trim() === '' ? !queue?.listing.letters : shownList(state)?.page?.total === 0;
}

function Details({ letter }: { letter: LetterDetails }) {
  const { handle, id, state, body, notShown } = letter;
  const controls = useFocusPassed<HTMLDivElement>('letter');
  const letters = { choice: { letter: handle } };
  const ask = () => set({ asked: { letters, title: `Discard the dead letter #${id} for good?`, count: 1 } });
  return (
    <article class="letter-details" aria-labelledby="letter-title">
      <div class="head">
        <h2 id="letter-title">
          <span class={`mark ${state}`}>{state}</span> {typeWords(letter)}
        </h2>
        {state === 'dead' && (
          <div ref={controls} class="controls">
            <ChangeButton run={() => change('retry', letters)}>Retry</ChangeButton>
            <ChangeButton style="discard" run={ask}>
              Discard …
            </ChangeButton>
          </div>
        )}
      </div>
      <Why letter={letter} />
      <div class="sides">
        <div class="side">
          <Facts letter={letter} />
          <Unsigned letter={letter} />
        </div>
        <div class="side">
          <div class="body-head">
            <h3>Body</h3>
            {body && body.bytes > 0 && body.shown === 'text' && !body.cut && <Copy what="body" text={body.text} />}
          </div>
          {body === undefined ? (
            <p class="note">
              {notShown ??
                'This job is not a delivery that this version can read. Look at it with a tool of the engine.'}
            </p>
          ) : (
            <Body body={body} of="letter" />
          )}
        </div>
      </div>
    </article>
  );
}

function Why({ letter: { reason, stack, state } }: { letter: LetterDetails }) {
  if (reason === undefined && stack === undefined)
    return state === 'dead' ? <p class="note">The engine does not know why it died.</p> : null;
  return (
    <section class="why-box" aria-label="Reason">
      <h3>{state === 'dead' ? 'Why it died' : 'The last failure'}</h3>
      <p class="reason">{reason}</p>
      {stack !== undefined && (
        <details open>
          <summary>Stack</summary>
          <textarea readOnly class="stack" aria-label="Stack" value={stack} spellcheck={false} />
          <Copy what="stack" text={stack} />
        </details>
      )}
    </section>
  );
}

function Facts({ letter }: { letter: LetterDetails }) {
  const { id, eventId, tenant, endpoint, key, attempts, at, receivedAt, signedAt, scheme, state } = letter;
  const rows: [name: string, value: string | undefined, copied?: string][] = [
    ['Event', eventId, 'event id'],
    ['Job id', id, 'job id'],
    ['Tenant', tenant],
    ['Endpoint', endpoint],
    ['Deduplication key', key],
    ['Attempts', attempts?.toLocaleString()],
    ['Received', receivedAt && dateAndTimeOf(receivedAt)],
    ['Signed', signedAt === undefined ? undefined : `${dateAndTimeOf(signedAt)}${scheme ? ` (${scheme})` : ''}`],
    [state === 'dead' ? 'Died' : 'Queued', at && dateAndTimeOf(at)],
  ].filter((row): row is [string, string] => row[1] !== undefined && row[1] !== '' && row[1] !== 0);
  return (
    <dl>
      {rows.map(([name, value, copied]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>
            <code>{value}</code> {copied !== undefined && <Copy what={copied} text={value ?? ''} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Unsigned({ letter: { unsigned } }: { letter: LetterDetails }) {
  if (unsigned.length === 0) return null;
  return (
    <section aria-label="Headers">
      <h3>Headers (not covered by the signature)</h3>
      <HeaderTable headers={unsigned} label="Headers that are not covered by the signature" />
    </section>
  );
}
