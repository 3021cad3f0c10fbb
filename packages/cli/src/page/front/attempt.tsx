import { useEffect, useRef } from 'preact/hooks';
import { durationOf } from '../../duration.js';
import type { AttemptDetails, Verdict as VerdictOf } from '../page-source.js';
import { toHash } from './address.js';
import { attemptName } from './attempt-name.js';
import { hrefOf, loadText, useLoaded } from './connection.js';
import { CopyButton } from './copy-button.js';
import { dateAndTimeOf } from './format.js';
import { Body, Headers } from './http-message.js';
import { NO_FILTER } from './state.js';
import { current } from './store.js';

interface AttemptProps {
  id: string;
  /** Whether it is scrolled into view. */
  isPicked: boolean;
}

/** Shows one request: the answer of the app, whether the signature is valid, and what was sent. */
export function Attempt({ id, isPicked }: AttemptProps) {
  const loaded = useLoaded<AttemptDetails>('attempts', id);
  const article = useRef<HTMLElement>(null);
  const isShown = loaded?.found !== undefined;
  useEffect(() => {
    if (isShown && isPicked) article.current?.scrollIntoView({ block: 'start' });
  }, [id, isShown, isPicked]);
  if (loaded === undefined) return <p class="empty">…</p>;
  const { found } = loaded;
  if (found === undefined) return <p class="empty">This attempt is no longer kept.</p>;
  const { number, at, endedAt, sentAt, faults, request } = found;
  const { text, shown, cut, bytes } = request.body;
  return (
    <article ref={article} class="attempt" aria-label={`Attempt ${number}`}>
      <h3>{attemptName(found)}</h3>
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
      <h4>Request</h4>
      <p>
        <code>
          {request.method} {request.url}
        </code>
      </p>
      <div class="controls">
        <CopyButton what="command" label="Copy as curl" text={() => loadText('curl', id)} />
        {bytes > 0 && shown === 'text' && !cut && <CopyButton what="body" label="Copy body" text={text} />}
        <a class="button small" href={hrefOf('http', id)} download title="For replay, verify, explain and readDelivery">
          Download .http
        </a>
        <CopyButton what="test" label="Copy as test" text={() => loadText('test', id)} />
        <CopyButton what="link" label="Copy link" text={linkTo(id)} />
      </div>
      <Body body={request.body} of="request" />
      <Headers headers={request.headers} of="request" />
    </article>
  );
}

/** To this attempt, whatever the list is filtered by. */
function linkTo(attempt: string): string {
  return `${location.origin}/${toHash({ ...NO_FILTER, selected: current().selected, attempt, compared: undefined })}`;
}

/** What the app answered, and one verdict on it: whether the signature is valid, and who has to fix what. */
function Answer({ attempt }: { attempt: AttemptDetails }) {
  const { answer, acknowledged, status, problem, code, recognised, verdict } = attempt;
  const advice = isForApp(verdict) ? attempt.advice : undefined;
  return (
    <section class={`answer-box ${acknowledged ? 'acknowledged' : 'failed'}`} aria-label="Answer of the app">
      <p>
        <strong>{status ?? (problem ? 'No answer that counts' : answer?.status)}</strong>
        {code !== undefined && (
          <>
            {' '}
            <code>{code}</code>
          </>
        )}
        {acknowledged && ': acknowledged'}
        {recognised && ', as a duplicate: the app has handled this event before'}
        {problem && !advice?.message.includes(problem) && <>: {problem}</>}
      </p>
      <Verdict verdict={verdict} acknowledged={acknowledged} answered={problem === undefined} faults={attempt.faults} />
      {advice && (
        <p>
          {advice.message} <span class="fix">{advice.fix}</span>
        </p>
      )}
      {answer && (
        <details open={!acknowledged && code === undefined}>
          <summary>Answer in full</summary>
          <Body body={answer.body} of="answer" />
          <Headers headers={answer.headers} of="answer" />
        </details>
      )}
    </section>
  );
}

/** A delivery without a valid signature is not for the app to accept. */
function isForApp({ verdict }: VerdictOf): boolean {
  return verdict === 'accepted' || verdict === 'unverified';
}

/** Says whether the signature is valid and whether the app is right, with the causes where it is not valid. */
function Verdict({
  verdict: { verdict, causes },
  acknowledged,
  answered,
  faults,
}: {
  verdict: VerdictOf;
  acknowledged: boolean;
  answered: boolean;
  faults: readonly string[];
}) {
  if (verdict === 'unverified')
    return <p class="verdict">Not verified: the secret of this endpoint is not known here.</p>;
  if (verdict === 'accepted') {
    const refused = answered && !acknowledged;
    return (
      <p class={`verdict ${refused ? 'failed' : 'acknowledged'}`}>
        {refused ? 'The signature is valid, so the app has to accept this delivery.' : 'The signature is valid.'}
      </p>
    );
  }
  const isMadeHere = faults.length > 0 && !acknowledged;
  return (
    <div class={`verdict ${isMadeHere ? '' : 'failed'}`}>
      {isMadeHere && (
        <p>This delivery was changed on purpose (fault: {faults.join(', ')}), so the app is right to refuse it.</p>
      )}
      <p>
        {acknowledged ? 'The app accepted it, although verification fails: ' : 'Verification fails: '}
        <code>{verdict}</code>
      </p>
      <ul>
        {causes.map(({ cause, certainty, evidence, fix }) => (
          <li key={cause}>
            <strong>{cause}</strong> ({certainty}): {evidence} {fix}
          </li>
        ))}
      </ul>
    </div>
  );
}
