import type { ComponentChildren } from 'preact';
import { durationOf } from '../../duration.js';
import type { AttemptDetails, BodyView } from '../page-source.js';
import { attemptName } from './attempt-name.js';
import { useLoaded } from './connection.js';
import { isDifferent, type Pair, pairHeaders, pairLines } from './differences.js';
import { counted, dateAndTimeOf } from './format.js';
import { indentedJson } from './http-message.js';

/** The lines around a different one that are shown with it. */
const AROUND = 2;
/** More lines take the browser long to draw. */
const MAX_LINES = 400;

/** Shows two attempts side by side, the earlier one on the left: their answers and requests, what differs first. */
export function Comparison({ ids: [first, second] }: { ids: readonly [string, string] }) {
  const [one, other] = [useLoaded<AttemptDetails>('attempts', first), useLoaded<AttemptDetails>('attempts', second)];
  if (one === undefined || other === undefined) return <p class="empty">…</p>;
  if (!one.found || !other.found) return <p class="empty">One of these attempts is no longer kept.</p>;
  const [a, b] = one.found.at <= other.found.at ? [one.found, other.found] : [other.found, one.found];
  const headersOf = ({ answer }: AttemptDetails) => answer?.headers ?? [];
  return (
    <article class="comparison" aria-label="Comparison of two attempts">
      <div class="pair heads">
        {[a, b].map((attempt) => (
          <h3 key={attempt.id}>
            {attemptName(attempt)}
            <span class="hint">{dateAndTimeOf(attempt.at)}</span>
          </h3>
        ))}
      </div>
      <Part title="Answer" pairs={outcomes(a, b)} />
      <Part title="Headers of the answer" pairs={pairHeaders(headersOf(a), headersOf(b))} />
      <Lines title="Body of the answer" left={a.answer?.body} right={b.answer?.body} />
      <Part title="Headers of the request" pairs={pairHeaders(a.request.headers, b.request.headers)} />
      <Lines title="Body of the request" left={a.request.body} right={b.request.body} />
    </article>
  );
}

function outcomes(a: AttemptDetails, b: AttemptDetails): Pair[] {
  const pair = (name: string, of: (attempt: AttemptDetails) => string | undefined): Pair => {
    return { name, left: of(a), right: of(b) };
  };
  const all = [
    pair('result', ({ acknowledged }) => (acknowledged ? 'acknowledged' : 'failed')),
    pair('status', ({ status, problem }) => problem ?? String(status)),
    pair('code', ({ code }) => code),
    pair('cause', ({ advice }) => advice?.message),
    pair('signature', ({ verdict }) => verdict.verdict),
    pair('injected fault', ({ faults }) => faults.join(', ') || undefined),
    pair('took', ({ at, endedAt }) => durationOf(endedAt - at)),
  ];
  return all.filter(({ left, right }) => left !== undefined || right !== undefined);
}

/** Shows what differs, and folds the rest. */
function Part({ title, pairs }: { title: string; pairs: readonly Pair[] }) {
  const different = pairs.filter(isDifferent);
  const same = pairs.filter((pair) => !isDifferent(pair));
  if (pairs.length === 0) return null;
  return (
    <Section title={title} differs={different.length > 0}>
      <Pairs of={title} pairs={different} />
      {same.length > 0 && (
        <details>
          <summary>{same.length === 1 ? '1 is the same' : `${same.length} are the same`}</summary>
          <Pairs of={`${title}, the same`} pairs={same} />
        </details>
      )}
    </Section>
  );
}

/** Shows where two bodies differ, with the lines around. */
function Lines({ title, left, right }: { title: string; left: BodyView | undefined; right: BodyView | undefined }) {
  const isCut = left?.cut || right?.cut;
  const [a = '', b = ''] = [left, right].map((body) => (isCut ? body?.text : textOf(body)));
  if (a === '' && b === '') return null;
  if (a === b) {
    const isSame = left?.text === right?.text && left?.bytes === right?.bytes;
    const said = isSame ? `The same ${counted(left?.bytes ?? 0, 'byte')}.` : 'Only white space differs.';
    return (
      <Section title={title} differs={!isSame}>
        <p class="note">{isCut ? 'The beginning is the same, and the rest is not compared.' : said}</p>
      </Section>
    );
  }
  const pairs = pairLines(a, b);
  const near = pairs.filter((_, at) => pairs.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(isDifferent));
  return (
    <Section title={title} differs>
      {isCut && <p class="note">Only the beginning of the bodies is compared.</p>}
      <Pairs of={title} pairs={near.slice(0, MAX_LINES)} />
      {near.length > MAX_LINES && <p class="note">{counted(near.length - MAX_LINES, 'more line')}</p>}
    </Section>
  );
}

function textOf(body: BodyView | undefined): string {
  if (body === undefined) return '';
  return (body.shown === 'text' && indentedJson(body.text)) || body.text;
}

function Section({ title, differs, children }: { title: string; differs: boolean; children: ComponentChildren }) {
  return (
    <section aria-label={title}>
      <h4>
        {title} <span class={`mark ${differs ? '' : 'same'}`}>{differs ? 'differs' : 'the same'}</span>
      </h4>
      {children}
    </section>
  );
}

function Pairs({ of, pairs }: { of: string; pairs: readonly Pair[] }) {
  if (pairs.length === 0) return null;
  return (
    <ul aria-label={of}>
      {pairs.map((pair, at) => (
        <li key={at} class={isDifferent(pair) ? 'pair differs' : 'pair'}>
          <span class="name">{pair.name}</span>
          <Value value={pair.left} />
          <Value value={pair.right} />
        </li>
      ))}
    </ul>
  );
}

function Value({ value }: { value: string | undefined }) {
  return <code class={value === undefined ? 'none' : undefined}>{value ?? 'none'}</code>;
}
