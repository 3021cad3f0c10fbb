import { agoOf } from '../ago-of.js';
import { dateAndTimeOf } from '../format.js';
import { useView } from './queue-hooks.js';

/** How long ago a time is, or how long ago the times from `oldest` to `at` are. */
export function Ago({ at, oldest = at }: { at: number | undefined; oldest?: number | undefined }) {
  const now = useView(({ queue }) => queue?.now ?? Date.now());
  if (at === undefined || oldest === undefined) return <span class="ago">no time</span>;
  const [newestAgo, oldestAgo] = [agoOf(now - at), agoOf(now - oldest)];
  if (newestAgo === oldestAgo) return <Exact at={at} text={newestAgo} />;
  return (
    <>
      <Exact at={at} text={newestAgo.replace(/ ago$/, '')} /> – <Exact at={oldest} text={oldestAgo} />
    </>
  );
}

function Exact({ at, text }: { at: number; text: string }) {
  return (
    <time class="ago" dateTime={new Date(at).toISOString()} title={dateAndTimeOf(at)}>
      {text}
    </time>
  );
}
