import type { AttemptDetails } from '../page-source.js';
import { Body } from './body.js';
import { Headers } from './headers.js';

/** What the app answered: its status and code, and what to do about a refusal. */
export function Answer({ attempt }: { attempt: AttemptDetails }) {
  const { answer, acknowledged, status, problem, code, advice, recognised } = attempt;
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
        {problem && <>: {problem}</>}
      </p>
      {advice && (
        <p>
          {advice.message} <span class="hint">{advice.hint}</span>
        </p>
      )}
      {answer && (
        <details open={!acknowledged && advice?.code === undefined}>
          <summary>Answer in full</summary>
          <Body body={answer.body} of="answer" />
          <Headers headers={answer.headers} of="answer" />
        </details>
      )}
    </section>
  );
}
