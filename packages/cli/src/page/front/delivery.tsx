import type { DeliveryDetails } from '../page-source.js';
import { Attempt } from './attempt.js';
import { attemptName } from './attempt-name.js';
import { Comparison } from './comparison.js';
import { useLoaded } from './connection.js';
import { CopyButton } from './copy-button.js';
import { DeliveryActions } from './delivery-actions.js';
import { dateAndTimeOf, timeOf } from './format.js';
import { compare, rowOf, select } from './store.js';
import { useStore } from './store-hooks.js';
import { Timeline } from './timeline.js';
import { useNarrow } from './use-narrow.js';

/** Shows everything about the selected delivery. */
export function Delivery() {
  const id = useStore((state) => state.selected);
  const picked = useStore((state) => state.attempt);
  const compared = useStore((state) => state.compared);
  const isNarrow = useNarrow();
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
          {attempt !== undefined && <CompareWith details={found} attempt={attempt} compared={compared} />}
          {attempt !== undefined && compared !== undefined && <Comparison ids={[attempt, compared]} />}
          {attempt !== undefined && compared === undefined && (
            <Attempt id={attempt} isPicked={isNarrow && picked !== undefined} />
          )}
        </>
      )}
    </section>
  );
}

interface CompareWithProps {
  details: DeliveryDetails;
  attempt: string;
  compared: string | undefined;
}

/** Selects another attempt to show next to the selected one. */
function CompareWith({ details: { attempts }, attempt, compared }: CompareWithProps) {
  const others = attempts.filter(({ id }) => id !== attempt);
  if (others.length === 0) return null;
  return (
    <p class="compare">
      <label>
        Compare with{' '}
        <select value={compared ?? ''} onChange={(event) => compare(attempt, event.currentTarget.value || undefined)}>
          <option value="">no other attempt</option>
          {others.map((other) => (
            <option key={other.id} value={other.id}>
              {attemptName(other)} · {other.problem ?? other.status} · {timeOf(other.at)}
            </option>
          ))}
        </select>
      </label>
    </p>
  );
}

function Head({ details }: { details: DeliveryDetails }) {
  const { delivery } = details;
  const { id, eventId, type, state, endpointId, createdAt, duplicates } = delivery;
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
      <DeliveryActions details={details} />
    </div>
  );
}
