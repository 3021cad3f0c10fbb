import { useState } from 'preact/hooks';
import type { DeliveryDetails } from '../page-source.js';
import { Attempt } from './attempt.js';
import { act } from './connection.js';
import { dateAndTimeOf } from './format.js';
import { rowOf } from './store.js';
import { Timeline } from './timeline.js';
import { useLoaded } from './use-loaded.js';
import { useStore } from './use-store.js';

/** Everything about the delivery that is selected. */
export function Delivery() {
  const id = useStore((state) => state.selected);
  const row = useStore((state) => rowOf(state.selected));
  const [picked, pick] = useState<{ delivery: string | undefined; attempt: string }>();
  const loaded = useLoaded<DeliveryDetails>('deliveries', id, row);
  const found = loaded?.found;
  const newest = found?.attempts.at(-1)?.id;
  const attempt = picked && picked.delivery === id ? picked.attempt : newest;
  return (
    <section id="delivery" class="delivery" aria-label="Delivery" tabIndex={-1}>
      {id === undefined && <p class="empty">Select a delivery to see its attempts.</p>}
      {loaded && !found && <p class="empty">It is not kept any more.</p>}
      {found && (
        <>
          <Head details={found} />
          <Timeline details={found} selected={attempt} onSelect={(attempt) => pick({ delivery: id, attempt })} />
          {attempt !== undefined && <Attempt id={attempt} />}
        </>
      )}
    </section>
  );
}

function Head({ details: { delivery, offers } }: { details: DeliveryDetails }) {
  const { id, eventId, type, state, endpointId, createdAt } = delivery;
  const actions = useStore((state) => state.offers);
  const url = useStore((state) => state.overview.endpoints.find((endpoint) => endpoint.id === endpointId)?.url);
  return (
    <div class="head">
      <h2>
        <span class={`mark ${state}`}>{state}</span> {type}
      </h2>
      <dl>
        <dt>Event</dt>
        <dd>
          <code>{eventId}</code>
        </dd>
        <dt>Delivery</dt>
        <dd>
          <code>{id}</code>
        </dd>
        <dt>To</dt>
        <dd>
          <code>{url ?? endpointId}</code>
        </dd>
        <dt>Since</dt>
        <dd>{dateAndTimeOf(createdAt)}</dd>
      </dl>
      <div class="controls">
        {actions.includes('redeliver') && (
          <button
            type="button"
            aria-disabled={!offers.includes('redeliver')}
            title={offers.includes('redeliver') ? undefined : 'Only a dead delivery starts again.'}
            onClick={() => offers.includes('redeliver') && act('redeliver', { delivery: id })}
          >
            Redeliver
          </button>
        )}
        {actions.includes('replay') && offers.includes('replay') && (
          <>
            <button type="button" onClick={() => act('replay', { delivery: id, exact: false })}>
              Replay, signed anew
            </button>
            <button type="button" onClick={() => act('replay', { delivery: id, exact: true })}>
              Replay as it was
            </button>
          </>
        )}
      </div>
    </div>
  );
}
