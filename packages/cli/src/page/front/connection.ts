import { useEffect, useState } from 'preact/hooks';
import type { ActionInputs, ActionName } from '../page-source.js';
import { applyChange, applySnapshot, say, setConnection } from './store.js';
import { useStore } from './store-hooks.js';

type Room = 'deliveries' | 'attempts' | 'samples';

/** Arrow keys pass many deliveries quickly. */
const PAUSE_MS = 40;

const token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';
let run: string | undefined;

/** Receives the deliveries from now on. A lost connection is restored automatically. */
export function connect(): void {
  const stream = new EventSource('/page/stream');
  stream.addEventListener('snapshot', ({ data }) => {
    const snapshot = JSON.parse(data);
    if (run !== undefined && run !== snapshot.run) return location.reload(); // the program was restarted and has another token
    run = snapshot.run;
    applySnapshot(snapshot);
  });
  stream.addEventListener('change', ({ data }) => applyChange(JSON.parse(data)));
  stream.addEventListener('error', () => {
    setConnection('lost');
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2_000); // the connection was refused, and the browser does not retry
  });
}

/** Runs an action and shows its result. Resolves to whether it succeeded. */
export async function act<Name extends ActionName>(name: Name, input: ActionInputs[Name]): Promise<boolean> {
  try {
    const headers = { 'content-type': 'application/json', 'x-page-token': token };
    const response = await fetch(`/page/actions/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    const { done, error } = await response.json();
    say(done ?? error, done === undefined);
    return done !== undefined;
  } catch {
    say('The program on this machine does not answer. Is it still running?', true);
    return false;
  }
}

/** Resolves to undefined for an entry that is no longer kept. Rejects where the server does not answer. */
export async function load<Found>(room: Room, id: string): Promise<Found | undefined> {
  const response = await fetch(`/page/${room}/${encodeURIComponent(id)}`);
  return response.ok ? response.json() : undefined;
}

/**
 * Returns the entry of an id; undefined until the source has answered. Loaded again when `version` changes, and when a
 * lost connection is restored.
 */
export function useLoaded<Found>(room: Room, id: string | undefined, version?: unknown) {
  const [loaded, setLoaded] = useState<{ id: string; found: Found | undefined }>();
  const isLost = useStore(({ connection }) => connection === 'lost');
  useEffect(() => {
    if (id === undefined || isLost) return;
    let isWanted = true;
    const show = (found: Found | undefined) => isWanted && setLoaded({ id, found });
    const timer = setTimeout(() => load<Found>(room, id).then(show, () => {}), PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [room, id, version, isLost]);
  return loaded?.id === id ? loaded : undefined;
}

/** Resolves to the ids of the deliveries with every word of a query anywhere. Rejects where the server does not answer. */
export async function searchFor(query: string, signal: AbortSignal): Promise<readonly string[]> {
  const response = await fetch(`/page/search/${encodeURIComponent(query)}`, { signal });
  if (!response.ok) throw new Error((await response.json()).error);
  return (await response.json()).ids;
}

export function hrefOf(room: 'http' | 'curl' | 'test', id: string): string {
  return `/page/${room}/${encodeURIComponent(id)}`;
}

/** Rejects with what the server says, where it does not give the text. */
export async function loadText(room: 'curl' | 'test', id: string): Promise<string> {
  const response = await fetch(hrefOf(room, id));
  if (!response.ok) throw new Error((await response.json()).error);
  return response.text();
}
