import type { ServerResponse } from 'node:http';
import type { Change, DeliveryRow, PageSource } from '../page-source.js';

/** Changes are collected for this time: a person sees no difference, and the browser has time to draw. */
const GATHER_MS = 50;
/** Only a write shows that a connection is closed. */
const HEARTBEAT_MS = 15_000;

/**
 * Sends server-sent events: a snapshot, then the changes. A restored connection begins with a snapshot again, so that
 * no change is missed or repeated. Returns a function that ends it.
 *
 * A browser that reads slowly costs at most one row for each delivery, because unsent changes are merged.
 */
export function openStream(res: ServerResponse, source: PageSource, run: string): () => void {
  const rows = new Map<string, DeliveryRow>();
  const removed = new Set<string>();
  let overview: Change['overview'] | undefined;
  let timer: NodeJS.Timeout | undefined;

  const send = (event: string, data: unknown) => res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

  const flush = () => {
    timer = undefined;
    if (overview === undefined || res.writableNeedDrain) return; // `drain` continues it
    send('change', { overview, deliveries: [...rows.values()], removed: [...removed] } satisfies Change);
    rows.clear();
    removed.clear();
    overview = undefined;
  };
  const later = () => {
    timer ??= setTimeout(flush, GATHER_MS);
  };
  const stopWatching = source.watch((change) => {
    overview = change.overview;
    for (const row of change.deliveries) {
      rows.delete(row.id); // moved to the end, because the order is that of the latest change
      rows.set(row.id, row);
      removed.delete(row.id);
    }
    for (const id of change.removed) {
      rows.delete(id);
      removed.add(id);
    }
    later();
  });
  const heartbeat = setInterval(() => res.write(':\n\n'), HEARTBEAT_MS);

  const close = () => {
    stopWatching();
    clearInterval(heartbeat);
    clearTimeout(timer);
    res.end();
  };

  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write('retry: 1000\n\n');
  const offers = Object.keys(source.actions);
  send('snapshot', { run, title: source.title, start: source.start, offers, ...source.snapshot() });
  res.on('drain', later);
  res.on('close', close);
  return close;
}
