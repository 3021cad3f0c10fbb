import { Session } from 'node:inspector';

/** Which blocks of a module have run since the last look, as V8 counts them. To be started before the module is loaded. */
export function startCoverage() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

  return (path) => {
    const blocks = [];
    session.post('Profiler.takePreciseCoverage', (_, { result }) => {
      const module = result.find(({ url }) => url.endsWith(path));
      for (const { functionName, ranges } of module?.functions ?? []) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count > 0) blocks.push(`${functionName} ${startOffset} ${endOffset}`);
        }
      }
    });
    return blocks;
  };
}
