import { Failure } from '../../failure.js';

type Handles = ReadonlySet<number>;

interface Search {
  text: string;
  version: number;
  found: Promise<Handles>;
  stop: AbortController;
}

export interface BodySearches {
  /**
   * Resolves to the handles of the letters in whose bodies the text is; `version` is that of the listing.
   *
   * @throws Failure where later searches have replaced this one
   */
  find(text: string, version: number): Promise<Handles>;
  /** Ends those that run. */
  close(): void;
}

/** Several, since each page that is open may have one. */
const MOST_SEARCHES = 3;

/** Searches in the bodies of dead letters, each of which reads all of them. The latest are kept, and others end. */
export function bodySearches(read: (text: string, signal: AbortSignal) => Promise<Handles>): BodySearches {
  let searches: readonly Search[] = [];

  function keep(kept: readonly Search[]): void {
    const replaced = new Failure('usage', 'Other searches have replaced this one: search again.');
    for (const search of searches) if (!kept.includes(search)) search.stop.abort(replaced);
    searches = kept;
  }

  return {
    find(text, version) {
      const known = searches.find((search) => search.text === text && search.version === version);
      if (known !== undefined) return known.found;
      const stop = new AbortController();
      const search: Search = { text, version, stop, found: read(text, stop.signal) };
      const others = searches.filter((one) => one.text !== text);
      keep([search, ...others].slice(0, MOST_SEARCHES));
      search.found.catch(() => keep(searches.filter((one) => one !== search)));
      return search.found;
    },
    close: () => keep([]),
  };
}
