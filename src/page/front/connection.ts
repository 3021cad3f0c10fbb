import type { ActionInputs, ActionName } from '../page-source.js';
import { applyChange, applySnapshot, say, setConnection } from './store.js';

const token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';
let run: string | undefined;

/** Takes in the deliveries as they come, from now on. A connection that is lost comes back by itself. */
export function connect(): void {
  const stream = new EventSource('/page/stream');
  stream.addEventListener('snapshot', ({ data }) => {
    const snapshot = JSON.parse(data);
    if (run !== undefined && run !== snapshot.run) return location.reload(); // another program, and another token
    run = snapshot.run;
    applySnapshot(snapshot);
  });
  stream.addEventListener('change', ({ data }) => applyChange(JSON.parse(data)));
  stream.addEventListener('error', () => {
    setConnection('lost');
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2_000); // it was refused, and tries no more
  });
}

/** Does something, and says what has come of it. */
export async function act<Name extends ActionName>(name: Name, input: ActionInputs[Name]): Promise<void> {
  try {
    const headers = { 'content-type': 'application/json', 'x-page-token': token };
    const response = await fetch(`/page/actions/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    const { done, error } = await response.json();
    say(done ?? error, done === undefined);
  } catch {
    say('It could not be done: the program on this machine does not answer.', true);
  }
}

/** Undefined for what is not kept any more. Rejects where nobody answers. */
export async function load<Found>(room: 'deliveries' | 'attempts', id: string): Promise<Found | undefined> {
  const response = await fetch(`/page/${room}/${encodeURIComponent(id)}`);
  return response.ok ? response.json() : undefined;
}
