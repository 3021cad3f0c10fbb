import { useState } from 'preact/hooks';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { act } from './connection.js';
import { durationOf } from './format.js';
import { OwnEventEditor } from './own-event-editor.js';
import { useStore } from './store-hooks.js';

const MINUTE = 60_000;
/** The waits of the schedule, and their sum. */
const STEPS = [MINUTE / 2, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 240 * MINUTE, 360 * MINUTE];

/** Shows the actions on the source as a whole, and its endpoints. */
export function Controls() {
  const offers = useStore((state) => state.offers);
  const failing = useStore((state) => state.overview.failing);
  const [type, setType] = useState<string>(WEBHOOK_EVENT_TYPES[0]);
  const [count, setCount] = useState('1');
  const [ms, setMs] = useState(STEPS[0] ?? 0);
  const [isWriting, setWriting] = useState(false);
  return (
    <>
      <div class="controls">
        {offers.includes('send') && (
          <Control label="Send a sample" onSubmit={() => act('send', { type })}>
            <select aria-label="Type of event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {WEBHOOK_EVENT_TYPES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </Control>
        )}
        {offers.includes('emit') && (
          <button type="button" onClick={() => setWriting(true)}>
            Write an event …
          </button>
        )}
        {isWriting && <OwnEventEditor onClose={() => setWriting(false)} />}
        {offers.includes('failNext') && (
          <Control label="Fail the next" onSubmit={() => act('failNext', { count: Number(count) })}>
            <input
              aria-label="How many requests fail"
              type="number"
              min="1"
              max="1000"
              required
              value={count}
              onInput={(event) => setCount(event.currentTarget.value)}
            />
            {failing > 0 && <span class="note">{failing} to go</span>}
          </Control>
        )}
        {offers.includes('advance') && (
          <Control label="Advance the clock" onSubmit={() => act('advance', { ms })}>
            <select
              aria-label="By how much time"
              value={ms}
              onChange={(event) => setMs(Number(event.currentTarget.value))}
            >
              {STEPS.map((step) => (
                <option key={step} value={step}>
                  {durationOf(step)}
                </option>
              ))}
            </select>
          </Control>
        )}
      </div>
      <Endpoints />
    </>
  );
}

interface ControlProps {
  label: string;
  onSubmit(): Promise<unknown>;
  children: preact.ComponentChildren;
}

/** A button with its inputs. It is disabled while its action runs, so that a second click has no effect. */
function Control({ label, onSubmit, children }: ControlProps) {
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    await onSubmit();
    setBusy(false);
  };
  return (
    <form class="control" onSubmit={submit}>
      <button type="submit" aria-disabled={busy}>
        {label}
      </button>
      {children}
    </form>
  );
}

/** Shows the endpoints, and after how many further dead deliveries each is paused. */
function Endpoints() {
  const endpoints = useStore((state) => state.overview.endpoints);
  const offers = useStore((state) => state.offers);
  if (endpoints.length === 0) return null;
  return (
    <ul class="endpoints" aria-label="Endpoints">
      {endpoints.map(({ id, url, state, deadInARow, pausesAfter }) => (
        <li key={id}>
          <span class={`mark ${state}`}>{state}</span>
          <code>{url}</code>
          <span class="note">
            {deadInARow} of {pausesAfter} dead in a row
          </span>
          {state === 'active' && offers.includes('pause') && (
            <button type="button" aria-label={`Pause ${url}`} onClick={() => act('pause', { endpoint: id })}>
              Pause
            </button>
          )}
          {state === 'paused' && offers.includes('enable') && (
            <button type="button" aria-label={`Re-enable ${url}`} onClick={() => act('enable', { endpoint: id })}>
              Re-enable
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
