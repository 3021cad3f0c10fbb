import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a server of servers.mjs in another process. */
export async function startServer(framework, name) {
  const child = fork(join(import.meta.dirname, 'serve.mjs'), [framework, name], { execArgv: ['--expose-gc'] });
  const told = async () => (await once(child, 'message'))[0];
  const port = await told();
  return {
    port,
    /** `cpu` or `memory`, as serve.mjs has them. */
    ask(what) {
      child.send(what);
      return told();
    },
    stop: () => child.kill(),
  };
}
