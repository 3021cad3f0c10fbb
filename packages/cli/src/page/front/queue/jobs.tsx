import { counted } from '../format.js';
import { LetterRow } from './letter-row.js';
import { NotKnown } from './not-known.js';
import { useView } from './queue-hooks.js';

/** The jobs that wait or run, the oldest first. */
export function Jobs({ tab }: { tab: 'waiting' | 'running' }) {
  const reason = useView(({ queue }) => queue?.unlisted[tab]);
  const engine = useView(({ queue }) => queue?.engine);
  const problem = useView(({ queue }) => queue?.problem);
  const jobs = useView((state) => (state.jobs?.of === tab ? state.jobs : undefined));
  if (reason !== undefined)
    return (
      <p class="empty">
        {engine} cannot list jobs that are {tab}: {reason}.
      </p>
    );
  if (jobs === undefined) return <p class="empty">…</p>;
  if (jobs.page === undefined) return <p class="empty">{jobs.problem}</p>;
  const { rows, isCut } = jobs.page;
  if (rows.length === 0 && problem !== undefined) return <NotKnown />;
  if (rows.length === 0) return <p class="empty">No job is {tab} now.</p>;
  return (
    <>
      <p class="bar note">
        {isCut ? `The oldest ${counted(rows.length, 'job')}; there are more` : counted(rows.length, 'job')}
      </p>
      <ul class="letters" aria-label={`Jobs that are ${tab}, the oldest first`}>
        {rows.map((row) => (
          <LetterRow key={row.handle} row={row} hasReason />
        ))}
      </ul>
    </>
  );
}
