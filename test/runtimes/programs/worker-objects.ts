import { DedupeObject, type DurableObjectStorage } from 'service-webhooks/stores/durable-object';

interface State {
  storage: DurableObjectStorage & { list(): Promise<Map<string, unknown>> };
  abort(reason: string): void;
}

/** What an object has stored. */
export interface Stored {
  entries: [key: string, value: unknown][];
  alarm: number | null;
}

/** One that shows what it has stored, and dies when it is told to. In a Worker of its own, with a clock of its own. */
export class SqliteObject extends DedupeObject {
  readonly #state: State;

  constructor(state: State) {
    super(state);
    this.#state = state;
  }

  override async fetch(request: Request): Promise<Response> {
    const { storage } = this.#state;
    const { pathname } = new URL(request.url);
    if (pathname === '/die') this.#state.abort('as the suite wants it');
    if (pathname !== '/stored') return super.fetch(request);
    const stored: Stored = { entries: [...(await storage.list())], alarm: await storage.getAlarm() };
    return Response.json(stored);
  }
}

/** The same, for a binding whose storage is without SQLite. */
export class KvObject extends SqliteObject {}

/** One that cannot be made. */
export class DeadObject {
  constructor() {
    throw new Error('as the suite wants it');
  }
}

export default { fetch: async () => new Response() };
