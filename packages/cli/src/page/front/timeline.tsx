import { useLayoutEffect, useRef } from 'preact/hooks';
import { durationOf } from '../../duration.js';
import type { AttemptRow, DeliveryDetails } from '../page-source.js';
import { timeOf } from './format.js';
import { roundsOf, type Station } from './rounds.js';
import { useNow, useStore } from './store-hooks.js';

interface TimelineProps {
  details: DeliveryDetails;
  selected: string | undefined;
  onSelect(attempt: string): void;
}

/** Shows the retry schedule, with the result of each attempt and the time of the next one. */
export function Timeline({ details, selected, onSelect }: TimelineProps) {
  const speed = useStore((state) => state.overview.speed);
  const { endpointId } = details.delivery;
  const paused = useStore((state) => state.overview.endpoints.find(({ id }) => id === endpointId)?.state === 'paused');
  const rounds = roundsOf(details, speed, paused);
  const aside = details.attempts.filter(({ kind }) => kind !== 'attempt');
  return (
    <div class="timelines">
      {rounds.map(({ redelivery, stations }) => (
        <div key={redelivery}>
          <h3>{redelivery === 0 ? 'Attempts' : `Started again${rounds.length > 2 ? `, ${redelivery}` : ''}`}</h3>
          {redelivery === 0 && details.lost !== undefined ? (
            <p>{details.lost}</p>
          ) : (
            <Stations stations={stations} selected={selected} onSelect={onSelect} />
          )}
        </div>
      ))}
      {aside.length > 0 && (
        <ul class="aside" aria-label="Outside the schedule">
          {aside.map((attempt) => (
            <li key={attempt.id} class={attempt.acknowledged ? 'acknowledged' : 'failed'}>
              <AttemptButton attempt={attempt} selected={selected} onSelect={onSelect} />
              <span class="note">
                {attempt.kind === 'replay' ? 'sent from this page' : `attempt ${attempt.number}, duplicate`}
                {attempt.recognised && ', recognised by the app'}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The places of one round. In a narrow window they scroll, so that the selected attempt is in view. */
function Stations({ stations, selected, onSelect }: Omit<TimelineProps, 'details'> & { stations: readonly Station[] }) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const box = list.current;
    const button = box?.querySelector<HTMLElement>('[aria-pressed=true]');
    if (!box || !button) return;
    const middle = button.getBoundingClientRect().left - box.getBoundingClientRect().left + button.offsetWidth / 2;
    box.scrollLeft += middle - box.clientWidth / 2;
  }, [selected]);
  return (
    <ol ref={list} class="timeline">
      {stations.map((station) => (
        <li
          key={station.number}
          class={station.state.replaceAll(' ', '-')}
          style={{ flexGrow: station.waitMs === 0 ? 0 : Math.log2(station.waitMs / 5_000) }}
        >
          {station.waitMs > 0 && <span class="wait">{durationOf(station.waitMs)}</span>}
          <Place station={station} selected={selected} onSelect={onSelect} />
        </li>
      ))}
    </ol>
  );
}

function Place({ station, ...rest }: Omit<TimelineProps, 'details'> & { station: Station }) {
  const { attempt, dueAt, number, state } = station;
  if (attempt) {
    return (
      <span class="place">
        <AttemptButton attempt={attempt} {...rest} />
        <span class="note">{timeOf(attempt.at)}</span>
      </span>
    );
  }
  return (
    <span class="place">
      <span class="dot" aria-hidden="true">
        {number}
      </span>
      <span class="note">
        <span class="unseen">Attempt {number}: </span>
        {state === 'next' && dueAt !== undefined ? <Due at={dueAt} /> : WORDS[state]}
        {state === 'later' && dueAt !== undefined && `from ${timeOf(dueAt)}`}
      </span>
    </span>
  );
}

const WORDS: Readonly<Record<Station['state'], string>> = {
  acknowledged: '',
  failed: '',
  sending: 'being sent',
  next: 'not yet sent',
  held: 'on hold: the endpoint is paused',
  'up to the sender': 'decided by the sender',
  later: '',
  'not kept': 'no longer kept',
};

function Due({ at }: { at: number }) {
  const left = at - useNow();
  return <>{left <= 0 ? 'due now' : `in ${durationOf(Math.ceil(left / 1000) * 1000)}`}</>;
}

function AttemptButton({ attempt, selected, onSelect }: Omit<TimelineProps, 'details'> & { attempt: AttemptRow }) {
  const { id, number, status, problem, acknowledged } = attempt;
  const outcome = problem ?? status;
  return (
    <button
      type="button"
      class="dot"
      aria-pressed={id === selected}
      aria-label={`Attempt ${number}: ${outcome}, ${acknowledged ? 'acknowledged' : 'failed'}`}
      title={String(outcome)}
      onClick={() => onSelect(id)}
    >
      {problem === undefined ? status : '✕'}
    </button>
  );
}
