import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The handlers of the programs: each calls this server with the id of its event, and runs until the answer. */
export interface HeldHandlers {
  url: string;
  /** How often the handler of an event has started. */
  runs(id: string): number;
  /** Lets the handler of an event end, in every run. */
  finish(id: string): void;
  stop(): void;
}

export async function holdHandlers(): Promise<HeldHandlers> {
  const answers = new Map<string, ServerResponse[]>();
  const finished = new Set<string>();
  const server = createServer(({ url = '' }, answer) => {
    const id = url.slice(1);
    answers.set(id, [...(answers.get(id) ?? []), answer]);
    if (finished.has(id)) answer.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs: (id) => answers.get(id)?.length ?? 0,
    finish(id) {
      finished.add(id);
      for (const answer of answers.get(id) ?? []) answer.end();
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
