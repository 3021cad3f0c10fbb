import type { DeliveryDetails } from '../page-source.js';
import { Attempt } from './attempt.js';
import { act, useLoaded } from './connection.js';
import { CopyButton } from './copy-button.js';
import { dateAndTimeOf } from './format.js';
import { rowOf, select } from './store.js';
import { useStore } from './store-hooks.js';
import { Timeline } from './timeline.js';

/** Shows everything about the selected delivery. */
export function Delivery() {
  const id = useStore((state) => state.selected);
  const picked = useStore((state) => state.attempt);
  const row = useStore((state) => rowOf(state.selected));
  const loaded = useLoaded<DeliveryDetails>('deliveries', id, row);
  const found = loaded?.found;
  const attempt = picked ?? found?.attempts.at(-1)?.id;
  return (
    <section id="delivery" class="delivery" aria-label="Delivery" tabIndex={-1}>
      {id === undefined && <p class="empty">Select a delivery to see what was sent and answered.</p>}
      {id !== undefined && (
        <p class="back">
          <button type="button" onClick={() => select(undefined)}>
            ← All deliveries
          </button>
        </p>
      )}
      {loaded && !found && <p class="empty">This delivery is no longer kept.</p>}
      {found && (
        <>
          <Head details={found} />
          <Timeline details={found} selected={attempt} onSelect={(attempt) => select(id, attempt)} />
          {attempt !== undefined && <Attempt id={attempt} />}
        </>
      )}
    </section>
  );
}

function Head({ details: { delivery, offers, cannotSign } }: { details: DeliveryDetails }) {
  const { id, eventId, type, state, endpointId, createdAt, duplicates } = delivery;
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
          {eventId === '' ? 'The body is not an event.' : <code>{eventId}</code>}{' '}
          {eventId !== '' && <CopyButton what="event id" text={eventId} />}
        </dd>
        <dt>Delivery</dt>
        <dd>
          <code>{id}</code> <CopyButton what="delivery id" text={id} />
        </dd>
        <dt>To</dt>
        <dd>
          <code>{delivery.url ?? url ?? endpointId}</code>
        </dd>
        <dt>Since</dt>
        <dd>{dateAndTimeOf(createdAt)}</dd>
        {duplicates > 0 && (
          <>
            <dt>Duplicates</dt>
            <dd>{duplicates}: the same attempt was sent more than once</dd>
          </>
        )}
      </dl>
      <div class="controls">
        {actions.includes('redeliver') && (
          <button
            type="button"
            aria-disabled={!offers.includes('redeliver')}
            title={offers.includes('redeliver') ? undefined : 'Only a dead delivery can be redelivered.'}
            onClick={() => offers.includes('redeliver') && act('redeliver', { delivery: id })}
          >
            Redeliver
          </button>
        )}
        {actions.includes('replay') && offers.includes('replay') && (
          <>
            <button
              type="button"
              aria-disabled={cannotSign !== undefined}
              title={cannotSign}
              onClick={() => cannotSign === undefined && act('replay', { delivery: id, exact: false })}
            >
              Send again, newly signed
            </button>
            <button type="button" onClick={() => act('replay', { delivery: id, exact: true })}>
              Send again unchanged
            </button>
            {cannotSign !== undefined && <span class="note">Not newly signed: {cannotSign}.</span>}
          </>
        )}
      </div>
    </div>
  );
}
