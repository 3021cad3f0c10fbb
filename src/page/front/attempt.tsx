import type { AttemptDetails } from '../page-source.js';
import { toHash } from './address.js';
import { Answer } from './answer.js';
import { Body } from './body.js';
import { hrefOf, loadText } from './connection.js';
import { Copy } from './copy.js';
import { dateAndTimeOf, durationOf } from './format.js';
import { Headers } from './headers.js';
import { current, NO_FILTER } from './store.js';
import { useLoaded } from './use-loaded.js';
import { Verdict } from './verdict.js';

/** Shows one request: the answer of the app, whether the signature is valid, and what was sent. */
export function Attempt({ id }: { id: string }) {
  const loaded = useLoaded<AttemptDetails>('attempts', id);
  if (loaded === undefined) return <p class="empty">…</p>;
  const { found } = loaded;
  if (found === undefined) return <p class="empty">This attempt is no longer kept.</p>;
  const { number, kind, at, endedAt, sentAt, faults, request, verdict } = found;
  const { text, shown, cut, bytes } = request.body;
  return (
    <article class="attempt" aria-label={`Attempt ${number}`}>
      <h3>
        Attempt {number}
        {kind === 'replay' && ', sent again from this page'}
        {kind === 'duplicate' && ', a duplicate'}
      </h3>
      <p>
        {dateAndTimeOf(at)}, took {durationOf(endedAt - at)}
        {faults.length > 0 && ` (fault: ${faults.join(', ')})`}
        {sentAt !== undefined && (
          <span class="note">
            {' '}
            By the clock of this machine {dateAndTimeOf(sentAt)}, which is the time in the signature.
          </span>
        )}
      </p>
      <Answer attempt={found} />
      <Verdict verdict={verdict} />
      <h4>Request</h4>
      <p>
        <code>
          {request.method} {request.url}
        </code>
      </p>
      <div class="controls">
        <Copy what="command" label="Copy as curl" text={() => loadText('curl', id)} />
        {bytes > 0 && shown === 'text' && !cut && <Copy what="body" label="Copy body" text={text} />}
        <a class="button small" href={hrefOf('http', id)} download title="For replay, verify, explain and readDelivery">
          Download .http
        </a>
        <Copy what="test" label="Copy as test" text={() => loadText('test', id)} />
        <Copy what="link" label="Copy link" text={linkTo(id)} />
      </div>
      <Body body={request.body} of="request" />
      <Headers headers={request.headers} of="request" />
    </article>
  );
}

/** To this attempt, whatever the list is filtered by. */
function linkTo(attempt: string): string {
  return `${location.origin}/${toHash({ ...NO_FILTER, selected: current().selected, attempt })}`;
}
