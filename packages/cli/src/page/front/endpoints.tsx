import { ActionButton } from './action-button.js';
import { act } from './connection.js';
import { useStore } from './store-hooks.js';

/** Shows the endpoints, and after how many further dead deliveries each is paused. */
export function Endpoints({ isFolded }: { isFolded: boolean }) {
  const endpoints = useStore((state) => state.overview.endpoints);
  const offers = useStore((state) => state.offers);
  const paused = endpoints.filter(({ state }) => state === 'paused').length;
  if (endpoints.length === 0) return null;
  return (
    <details class="tools" open={!isFolded}>
      <summary>
        {endpoints.length === 1 ? 'Endpoint' : `${endpoints.length} endpoints`}
        {paused > 0 && ` (${paused} paused)`}
      </summary>
      <ul class="endpoints" aria-label="Endpoints">
        {endpoints.map(({ id, url, state, deadInARow, pausesAfter }) => (
          <li key={id}>
            <span class={`mark ${state}`}>{state}</span>
            <code>{url}</code>
            <span class="note">
              {deadInARow} dead in a row; {pausesAfter} pause it
            </span>
            {state === 'active' && offers.includes('pause') && (
              <ActionButton label={`Pause ${url}`} run={() => act('pause', { endpoint: id })}>
                Pause
              </ActionButton>
            )}
            {state === 'paused' && offers.includes('enable') && (
              <ActionButton label={`Deliver to ${url} again`} run={() => act('enable', { endpoint: id })}>
                Deliver again
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
