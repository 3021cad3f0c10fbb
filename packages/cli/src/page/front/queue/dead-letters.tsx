import { type LetterGroupRow, type Listing, MAX_TEXT, MOST_CHANGED, MOST_ROWS } from '../../queue-source.js';
import { counted } from '../format.js';
import { Ago } from './ago.js';
import { ChangeButton } from './change-button.js';
import { LetterRow } from './letter-row.js';
import { NotKnown } from './not-known.js';
import { change, refresh, search, showMore, toggleGroup } from './queue-connection.js';
import { useView } from './queue-hooks.js';
import { type ShownLetters, set, shownList } from './queue-store.js';
import { useFocusPassed } from './use-focus-passed.js';

/** The dead letters by their reason, or those with a text in them. */
export function DeadLetters() {
  const listing = useView(({ queue }) => queue?.listing);
  const problem = useView(({ queue }) => queue?.problem);
  const text = useView((state) => state.text);
  const isSearch = text.trim() !== '';
  return (
    <>
      <Search />
      {listing === undefined || listing.version === 0 ? (
        problem === undefined ? (
          <p class="empty">Reading the dead letters …</p>
        ) : (
          <NotKnown />
        )
      ) : isSearch ? (
        <Found />
      ) : (
        <Groups listing={listing} />
      )}
    </>
  );
}

function Search() {
  const text = useView((state) => state.text);
  const bodies = useView((state) => state.bodies);
  const submit = (event: Event) => {
    event.preventDefault();
    search(text, bodies, true);
  };
  return (
    <search>
      <form class="queue-search" onSubmit={submit}>
        <input
          id="search"
          type="search"
          aria-label="Search dead letters"
          aria-keyshortcuts="/"
          placeholder="Search: id, type, reason, tenant …"
          maxLength={MAX_TEXT}
          value={text}
          onInput={(event) => search(event.currentTarget.value, bodies)}
        />
        <label>
          <input
            type="checkbox"
            checked={bodies}
            onChange={(event) => search(text, event.currentTarget.checked, true)}
          />
          also in bodies
        </label>
      </form>
    </search>
  );
}

function Groups({ listing }: { listing: Listing }) {
  const dead = useView(({ queue }) => queue?.stats?.dead ?? 0);
  const problem = useView(({ queue }) => queue?.problem);
  const { groups, others, letters } = listing;
  if (letters === 0 && problem !== undefined) return <NotKnown />;
  if (letters === 0 && dead === 0) return <p class="empty">There are no dead letters.</p>;
  return (
    <>
      <div class="bar">
        <span class="note">
          {listing.isCut
            ? `The oldest ${letters.toLocaleString()} of ${counted(dead, 'dead letter')}`
            : counted(letters, 'dead letter')}
          {', '}
          {counted(groups.length + others.groups, 'reason')}
        </span>
        <Actions choice={{ all: true }} shown={listing.digest} count={letters} which="of all reasons" />
        <button
          type="button"
          class="small"
          aria-disabled={listing.isReading}
          onClick={() => !listing.isReading && refresh()}
        >
          {listing.isReading ? 'Reading …' : 'Read again'}
        </button>
      </div>
      <ul class="groups" aria-label="Dead letters by reason, the most frequent first">
        {groups.map((group) => (
          <Group key={group.id} group={group} />
        ))}
      </ul>
      {others.groups > 0 && (
        <p class="empty">
          {counted(others.groups, 'more reason')} of {counted(others.letters, 'letter')}: search finds them.
        </p>
      )}
    </>
  );
}

function Group({ group }: { group: LetterGroupRow }) {
  const isOpen = useView((state) => state.group === group.id);
  const item = useFocusPassed<HTMLLIElement>('panel');
  const { id, reason, letters, digest, types, oldest, newest } = group;
  return (
    <li ref={item} class={isOpen ? 'group opened-group' : 'group'}>
      <div class="group-head">
        <button type="button" class="toggle" data-row="" aria-expanded={isOpen} onClick={() => toggleGroup(id)}>
          <span class="count">{letters.toLocaleString()}</span>
          <span class="group-reason">{reason}</span>
          <span class="note">
            <Ago at={newest} oldest={oldest} /> · {types.slice(0, 2).join(', ')}
            {types.length > 2 && ' …'}
          </span>
        </button>
        <Actions choice={{ group: id }} shown={digest} count={letters} which={`with the reason ${reason}`} />
      </div>
      {isOpen && <Letters />}
    </li>
  );
}

/** What a search has found. */
function Found() {
  const list = useView(shownList);
  const text = useView((state) => state.text);
  const bodies = useView((state) => state.bodies);
  if (list === undefined) return <p class="empty">Searching …</p>;
  const { page, problem } = list;
  if (page === undefined) return <ListProblem problem={problem} />;
  const which = `found by '${text.trim()}'${bodies ? ', also in bodies' : ''}`;
  return (
    <>
      <div class="bar">
        <span class="note">
          {page.total === 0 ? 'No dead letter matches' : `${counted(page.total, 'dead letter')} found`}
          {bodies && ', bodies included'}.
        </span>
        {page.total > 0 && (
          <Actions choice={{ text: text.trim(), bodies }} shown={page.digest} count={page.total} which={which} />
        )}
      </div>
      <Letters hasReason />
    </>
  );
}

function Letters({ hasReason = false }: { hasReason?: boolean }) {
  const list = useView(shownList);
  if (list === undefined) return <p class="note loading">…</p>;
  if (list.page === undefined) return <ListProblem problem={list.problem} />;
  const { rows, total } = list.page;
  return (
    <>
      <ListProblem problem={list.problem} />
      <ul class="letters" aria-label="Dead letters, the oldest first">
        {rows.map((row) => (
          <LetterRow key={row.handle} row={row} hasReason={hasReason} />
        ))}
      </ul>
      {rows.length < total && (
        <p class="more">
          <span class="note">
            The oldest {rows.length.toLocaleString()} of {total.toLocaleString()}
          </span>
          {rows.length < MOST_ROWS ? (
            <button type="button" class="small" onClick={showMore}>
              Show more
            </button>
          ) : (
            <span class="note">Search finds the others.</span>
          )}
        </p>
      )}
    </>
  );
}

/** Why a list was not read; it is read again with the next look. */
function ListProblem({ problem }: { problem: string | undefined }) {
  return problem === undefined ? null : <p class="empty problem">{problem}</p>;
}

interface ActionsProps extends Required<ShownLetters> {
  count: number;
  /** Which letters: in the names of the buttons and in the question before letters are discarded. */
  which: string;
}

/** The buttons that change several letters. */
function Actions({ choice, shown, count, which }: ActionsProps) {
  const buttons = useFocusPassed<HTMLSpanElement>('panel');
  const bounded = Math.min(count, MOST_CHANGED);
  const name = `${bounded < count ? 'the oldest ' : choice.all ? 'all ' : ''}${bounded.toLocaleString()}`;
  const letters = `${bounded < count ? 'the oldest ' : ''}${counted(bounded, 'dead letter')}`;
  const ask = () =>
    set({ asked: { letters: { choice, shown }, title: `Discard ${letters} ${which} for good?`, count: bounded } });
  return (
    <span ref={buttons} class="group-actions">
      <ChangeButton style="small" label={`Retry ${name} ${which}`} run={() => change('retry', { choice, shown })}>
        Retry {name}
      </ChangeButton>
      <ChangeButton style="small discard" label={`Discard ${name} ${which} …`} run={ask}>
        Discard {name} …
      </ChangeButton>
    </span>
  );
}
