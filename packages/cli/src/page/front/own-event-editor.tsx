import { useEffect, useRef, useState } from 'preact/hooks';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { readOwnEvent } from '../own-event.js';
import { act, load } from './connection.js';
import { useBlocked } from './store-hooks.js';

/** An event of one's own: the sample of a type, to be changed and sent with the retries of the service. */
export function OwnEventEditor({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [type, setType] = useState<string>(WEBHOOK_EVENT_TYPES[0]);
  const [json, setJson] = useState('');
  const [busy, setBusy] = useState(false);
  const { event, problem, warning } = readOwnEvent(json);
  const blocked = useBlocked();

  useEffect(() => dialog.current?.showModal(), []);
  const showSample = async (name: string) => {
    setType(name);
    const sample = await load<{ json: string }>('samples', name).catch(() => undefined);
    if (sample) setJson(sample.json);
  };
  useEffect(() => void showSample(type), []);

  const submit = async (submitted: Event) => {
    submitted.preventDefault();
    if (busy || event === undefined || blocked !== undefined) return;
    setBusy(true);
    const isDone = await act('emit', { event: json });
    setBusy(false);
    if (isDone) onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby="own-event" onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id="own-event">Send an event of your own</h2>
        <p class="control">
          <label>
            Sample{' '}
            <select value={type} onChange={(change) => showSample(change.currentTarget.value)}>
              {WEBHOOK_EVENT_TYPES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <button type="button" onClick={() => showSample(type)}>
            Reset
          </button>
        </p>
        <textarea
          class="editor"
          aria-label="Event as JSON"
          aria-describedby="own-event-note own-event-state"
          aria-invalid={event === undefined}
          spellcheck={false}
          value={json}
          onInput={(change) => setJson(change.currentTarget.value)}
        />
        <p class="note" id="own-event-note">
          Each event gets a new id and the time of now, unless you write an <code>id</code> or a <code>timestamp</code>.
        </p>
        <p
          role="status"
          id="own-event-state"
          class={`message ${(blocked ?? problem) ? 'failed' : warning ? 'warned' : ''}`}
        >
          {blocked ?? (json !== '' && (problem ?? warning ?? 'The event is valid.'))}
        </p>
        <p class="control">
          <button type="submit" class="primary" aria-disabled={busy || event === undefined || blocked !== undefined}>
            Send the event
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}
