import type { Page } from 'playwright-core';

/** What Stryker's change of the source looks at, there and here: which change is on, and which ones a test reaches. */
interface Mutation {
  activeMutant?: string;
  currentTestId?: string;
  hitLimit?: number;
  hitCount?: number;
  mutantCoverage?: { static: Hits; perTest: Record<string, Hits> };
}

type Hits = Record<string, number>;

/**
 * Under Stryker the page is built with all changes in it, of which it has to be told the one that is on; and what it has
 * reached it has to hand back. Elsewhere nothing is done.
 */
export async function carryMutation(page: Page): Promise<() => Promise<void>> {
  const here: Mutation | undefined = Reflect.get(globalThis, '__stryker__');
  if (here === undefined) return async () => {};
  // Most changes are noticed by something that never comes: it is not waited for long.
  page.setDefaultTimeout(3_000);
  page.on('pageerror', () => page.close());
  const { activeMutant, currentTestId, hitLimit } = here;
  await page.addInitScript(
    (there) => {
      const kept = window.origin === 'null' ? null : sessionStorage.getItem('mutation'); // of the page before it was loaded again
      const mutation = kept === null ? { ...there, hitCount: 0 } : JSON.parse(kept);
      Reflect.set(window, '__stryker__', mutation);
      addEventListener('pagehide', () => sessionStorage.setItem('mutation', JSON.stringify(mutation)));
    },
    { activeMutant, currentTestId, hitLimit },
  );
  return async () => {
    if (activeMutant !== undefined) return;
    const there = await page.evaluate((): Mutation | undefined => Reflect.get(window, '__stryker__'));
    const { static: unbound = {}, perTest = {} } = here.mutantCoverage ?? {};
    // A page is of one test, which nobody else reports as it does.
    here.mutantCoverage = { static: unbound, perTest: { ...perTest, ...there?.mutantCoverage?.perTest } };
  };
}
