/** The transitions of a delivery between its states. If several rows match, the first one applies. */
export const DELIVERY_TRANSITIONS = [
  { from: 'waiting', on: 'loss', when: 'always', to: 'lost', also: 'nothing else' },
  { from: 'waiting', on: 'due', when: 'endpoint active', to: 'sending', also: 'send' },
  { from: 'waiting', on: 'due', when: 'test delivery', to: 'sending', also: 'send' },
  { from: 'sending', on: 'pause', when: 'always', to: 'waiting', also: 'take attempt back' },
  { from: 'sending', on: '2xx', when: 'always', to: 'delivered', also: 'reset dead count' },
  { from: 'sending', on: 'failure', when: 'test delivery', to: 'dead', also: 'nothing else' },
  { from: 'sending', on: 'failure', when: 'retries left', to: 'waiting', also: 'schedule retry' },
  { from: 'sending', on: 'failure', when: 'retries used', to: 'dead', also: 'count dead' },
  { from: 'dead', on: 'redelivery', when: 'always', to: 'waiting', also: 'start again' },
  { from: 'lost', on: 'redelivery', when: 'always', to: 'waiting', also: 'start again' },
] as const;

/** The transitions of an endpoint between its states. Pausing it manually is an addition for tests. */
export const ENDPOINT_TRANSITIONS = [
  { from: 'active', on: 'dead delivery', when: '20 in a row', to: 'paused', also: 'nothing else' },
  { from: 'active', on: 'pause', when: 'always', to: 'paused', also: 'nothing else' },
  { from: 'paused', on: 'enable', when: 'always', to: 'active', also: 'reset dead count' },
] as const;

export type DeliveryTransition = (typeof DELIVERY_TRANSITIONS)[number];
export type EndpointTransition = (typeof ENDPOINT_TRANSITIONS)[number];

/** The state of a delivery. {@link DELIVERY_TRANSITIONS} lists its changes. */
export type DeliveryState = DeliveryTransition['from' | 'to'];

/** The state of an endpoint. A paused one receives tests and no other deliveries. */
export type EndpointState = EndpointTransition['from' | 'to'];

/** A row of a table of transitions. */
interface Transition {
  readonly from: string;
  readonly on: string;
  readonly when: string;
}

/** For each condition of a table, whether it is true of a record. */
export type Conditions<Row extends Transition, Item> = Readonly<Record<Row['when'], (item: Item) => boolean>>;

/** Returns the first row of a table that applies to a record; undefined where the event changes nothing. */
export function findTransition<Row extends Transition, Item extends { readonly state: string }>(
  rows: readonly Row[],
  conditions: Conditions<Row, Item>,
  item: Item,
  event: Row['on'],
): Row | undefined {
  return rows.find((row) => row.from === item.state && row.on === event && conditions[row.when as Row['when']](item));
}
