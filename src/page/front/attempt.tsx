import type { AttemptDetails } from '../page-source.js';
import { Body } from './body.js';
import { dateAndTimeOf, durationOf } from './format.js';
import { Headers } from './headers.js';
import { useLoaded } from './use-loaded.js';
import { Verdict } from './verdict.js';

/** One request, whether its signature holds, and what was answered. */
export function Attempt({ id }: { id: string }) {
  const loaded = useLoaded<AttemptDetails>('attempts', id);
  if (loaded === undefined) return <p class="empty">…</p>;
  if (loaded.found === undefined) return <p class="empty">This attempt is not kept any more.</p>;
  const { number, kind, at, endedAt, problem, faults, request, answer, verdict } = loaded.found;
  return (
    <article class="attempt" aria-label={`Attempt ${number}`}>
      <h3>
        Attempt {number}
        {kind === 'replay' && ', replayed'}
        {kind === 'duplicate' && ', sent twice'}
      </h3>
      <p>
        {dateAndTimeOf(at)}, {answer ? `${answer.status} ` : ''}after {durationOf(endedAt - at)}
        {problem && <strong class="failed"> {problem}</strong>}
        {faults.length > 0 && ` (fault: ${faults.join(', ')})`}
      </p>
      <Verdict verdict={verdict} />
      <h4>Request</h4>
      <p>
        <code>
          {request.method} {request.url}
        </code>
      </p>
      <Headers headers={request.headers} of="request" />
      <Body body={request.body} of="request" />
      <h4>Answer</h4>
      {answer ? (
        <>
          <p>
            <code>{answer.status}</code>
          </p>
          <Headers headers={answer.headers} of="answer" />
          <Body body={answer.body} of="answer" />
        </>
      ) : (
        <p>There was none.</p>
      )}
    </article>
  );
}
