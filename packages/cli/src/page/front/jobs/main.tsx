import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { durationOf } from '../../../duration.js';
import type { JobRow, JobsState } from '../../jobs-source.js';
import { agoOf } from '../ago-of.js';
import { dateAndTimeOf } from '../format.js';
import { Views } from '../views.js';

/** How long the page waits between two looks. */
const LOOK_MS = 2_000;

render(<App />, document.body);

function App() {
  const { state, connection } = useJobs();
  const problem = state?.problem;
  const isLive = connection === 'open' && problem === undefined;
  return (
    <>
      <header class="queue-header">
        <div class="heading">
          <h1>Jobs</h1>
          <Views current="jobs" />
          <span class={`connection ${isLive ? 'open' : connection === 'opening' ? 'opening' : 'lost'}`}>
            {connection === 'opening' && 'connecting'}
            {connection === 'lost' && 'connection lost, trying again'}
            {connection === 'open' && (isLive ? 'live' : 'no answer, trying again')}
          </span>
          <span class="note where">{state?.where}</span>
        </div>
        <div role="alert">
          {problem !== undefined && (
            <p class="problem banner">
              {problem.replace(/[.\s]+$/, '')}.{' '}
              {state?.readMs === undefined ? 'Nothing was read yet.' : `Last read ${agoOf(state.readMs)}.`}
            </p>
          )}
        </div>
        <Numbers counts={state?.counts} isOld={!isLive} />
      </header>
      <main class="jobs-main">
        <section class="overview" aria-label="Jobs">
          <Jobs state={state} />
        </section>
      </main>
    </>
  );
}

/** Reads the jobs while the page is visible. */
function useJobs() {
  const [state, setState] = useState<JobsState>();
  const [connection, setConnection] = useState<'opening' | 'open' | 'lost'>('opening');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      clearTimeout(timer);
      try {
        const response = await fetch('/page/jobs/state');
        setState(await response.json());
        setConnection('open');
      } catch {
        setConnection('lost');
      }
      clearTimeout(timer);
      if (!document.hidden) timer = setTimeout(look, LOOK_MS);
    };
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) void look();
    });
    void look();
  }, []);
  return { state, connection };
}

function Numbers({ counts, isOld }: { counts: JobsState['counts']; isOld: boolean }) {
  const styleOf = (style: string) => (isOld ? 'unknown' : style);
  const numbers = [
    ['Waited for', counts?.expected, ''],
    ['Overdue', counts?.overdue, counts?.overdue ? 'bad' : ''],
  ] as const;
  return (
    <dl class="numbers" aria-label="Numbers of the jobs">
      {numbers.map(([name, count, style]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={styleOf(style)}>{count?.toLocaleString() ?? (isOld ? 'not known' : '…')}</dd>
        </div>
      ))}
    </dl>
  );
}

function Jobs({ state }: { state: JobsState | undefined }) {
  const { now = 0, counts, jobs = [], problem } = state ?? {};
  if (counts === undefined)
    return <p class="empty">{problem === undefined ? '…' : 'Not known: the store does not answer.'}</p>;
  if (jobs.length === 0) return <p class="empty">No job is waited for. An app calls jobs.expect() for each one.</p>;
  const more = counts.expected - jobs.length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls it
    <div class="panel" tabIndex={0}>
      <table class="jobs" aria-label="Jobs that are waited for, those that are due first at the beginning">
        <thead>
          <tr>
            <th>Due</th>
            <th>Job</th>
            <th>Ends with</th>
            <th>Note</th>
            <th>Expected</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <Row key={`${job.tenant ?? ''} ${job.id}`} job={job} now={now} />
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="bar note">and {more.toLocaleString()} more</p>}
    </div>
  );
}

function Row({ job, now }: { job: JobRow; now: number }) {
  const { id, tenant, note, types, expectedAt, dueAt = now, isOverdue } = job;
  const duration = durationOf(Math.max(0, isOverdue ? now - dueAt : dueAt - now));
  return (
    <tr>
      <td title={dateAndTimeOf(dueAt)}>
        <span class={isOverdue ? 'mark dead' : 'mark'}>{isOverdue ? `overdue by ${duration}` : `in ${duration}`}</span>
      </td>
      <td>
        <code>{id}</code>
        {tenant !== undefined && ` of ${tenant}`}
      </td>
      <td>{types?.join(', ') ?? 'any .completed or .failed'}</td>
      <td>{note}</td>
      <td>
        {expectedAt !== undefined && (
          <time dateTime={new Date(expectedAt).toISOString()} title={dateAndTimeOf(expectedAt)}>
            {agoOf(now - expectedAt)}
          </time>
        )}
      </td>
    </tr>
  );
}
