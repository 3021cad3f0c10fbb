/** Deliveries (specification, section 3.1). Of the rows that fit, the first counts. */
export const DELIVERY_TRANSITIONS = [
  { from: 'waiting', on: 'due', when: 'endpoint active', to: 'sending', also: 'send' },
  { from: 'waiting', on: 'due', when: 'test delivery', to: 'sending', also: 'send' },
  { from: 'sending', on: '2xx', when: 'always', to: 'delivered', also: 'reset dead count' },
  { from: 'sending', on: 'failure', when: 'test delivery', to: 'dead', also: 'nothing else' },
  { from: 'sending', on: 'failure', when: 'retries left', to: 'waiting', also: 'schedule retry' },
  { from: 'sending', on: 'failure', when: 'retries used', to: 'dead', also: 'count dead' },
  { from: 'dead', on: 'redelivery', when: 'always', to: 'waiting', also: 'start again' },
] as const;

/** Endpoints (specification, section 3.1). Pausing by hand is not in it: it saves a test the twenty dead deliveries. */
export const ENDPOINT_TRANSITIONS = [
  { from: 'active', on: 'dead delivery', when: '20 in a row', to: 'paused' },
  { from: 'active', on: 'pause', when: 'always', to: 'paused' },
  { from: 'paused', on: 'enable', when: 'always', to: 'active' },
] as const;

export type DeliveryTransition = (typeof DELIVERY_TRANSITIONS)[number];
export type EndpointTransition = (typeof ENDPOINT_TRANSITIONS)[number];

/** Where a delivery stands. */
export type DeliveryState = DeliveryTransition['from' | 'to'];

/** Whether an endpoint is delivered to. */
export type EndpointState = EndpointTransition['from' | 'to'];

interface Transition {
  from: string;
  on: string;
  when: string;
}

/** The row that applies; undefined where a state has nothing to do on this. */
export function findTransition<Row extends Transition>(
  table: readonly Row[],
  from: string,
  on: Row['on'],
  holds: (condition: Row['when']) => boolean,
): Row | undefined {
  return table.find((row) => row.from === from && row.on === on && holds(row.when));
}
