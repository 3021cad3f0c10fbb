import { act } from './connection.js';
import { useStore } from './use-store.js';

/** Shows the endpoints, and after how many further dead deliveries each is paused. */
export function Endpoints() {
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
