import { adapterSuite } from 'service-webhooks-suites';
import { type Fetch, handler, middleware, rawBodyFix } from '../../adapters/mounts/fetch-app.js';
import { BY_FETCH } from '../../adapters/mounts/play-ending.js';

/** How one case of the suite ended here; without `failure`, well. */
export interface SuiteResult {
  name: string;
  failure?: string;
}

const apps = { handler, middleware };

/** The cases one after the other, where vitest cannot run. */
async function runSuite(): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  for (const form of ['handler', 'middleware'] as const) {
    const serve = (app: Parameters<typeof handler>[0]): { fetch: Fetch } => ({ fetch: apps[form](app) });
    for (const { name, run, skip } of adapterSuite({ form, serve, rawBodyFix, endings: BY_FETCH })) {
      if (skip !== undefined) continue;
      const failed = await run().then(
        () => ({}),
        (error) => ({ failure: `${error}` }),
      );
      results.push({ name: `${form}: ${name}`, ...failed });
    }
  }
  return results;
}

export default { fetch: async () => Response.json(await runSuite()) };
