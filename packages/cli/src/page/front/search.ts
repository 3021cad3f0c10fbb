import { searchFor } from './connection.js';
import { current, setFound, subscribe } from './store.js';

/** A word is typed to its end before it is searched. */
const PAUSE_MS = 150;
/** New deliveries are searched together. */
const AGAIN_MS = 1_000;

/**
 * Has the server search the bodies, the headers and the answers, of which the page has none. A search is repeated when
 * deliveries have changed; only the result of the latest query counts.
 */
export function followSearch(): void {
  /** The query that is asked or about to be, and the deliveries for which it was. */
  let asked = { query: '', revision: -1 };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;

  const look = () => {
    const { query: typed, revision, connection } = current();
    const query = typed.trim();
    const isOther = query !== asked.query;
    if (isOther) {
      running?.abort();
      running = undefined;
      clearTimeout(timer);
      timer = undefined;
      asked = { query, revision: -1 };
    }
    if (query === '' || connection !== 'open' || revision === asked.revision || timer || running) return;
    timer = setTimeout(run, isOther ? PAUSE_MS : AGAIN_MS);
  };
  const run = async () => {
    timer = undefined;
    const { query } = asked;
    asked = { query, revision: current().revision };
    const own = new AbortController();
    running = own;
    const ids = await searchFor(query, own.signal).catch(() => []);
    if (running !== own) return;
    running = undefined;
    setFound(query, ids);
    look();
  };
  subscribe(look);
  look();
}
