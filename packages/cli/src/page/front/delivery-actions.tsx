import type { DeliveryDetails } from '../page-source.js';
import { ActionButton } from './action-button.js';
import { act } from './connection.js';
import { Menu, type MenuItem } from './menu.js';
import { useStore } from './store-hooks.js';

const AGAIN = 'Send again';
const UNCHANGED = 'Send again unchanged';

/** Shows what can be done with a delivery: the next thing that helps as a button, and the rest in a menu. */
export function DeliveryActions({ details }: { details: DeliveryDetails }) {
  const { delivery, offers, cannotSign } = details;
  const actions = useStore((state) => state.offers);
  const { id } = delivery;
  const items: MenuItem[] = [];
  if (actions.includes('redeliver')) {
    items.push({
      label: 'Start its retries again',
      hint: 'the whole schedule from the first attempt on; the state of the delivery follows',
      why: offers.includes('redeliver') ? undefined : 'Only for a dead or lost delivery.',
      run: () => act('redeliver', { delivery: id }),
    });
  }
  if (actions.includes('replay') && offers.includes('replay')) {
    items.push(
      {
        label: AGAIN,
        hint: 'once, with a new signature',
        why: cannotSign && `Not signed again: ${cannotSign}.`,
        run: () => act('replay', { delivery: id, exact: false }),
      },
      {
        label: UNCHANGED,
        hint: 'once, with the old signature, which apps accept for 300 s',
        run: () => act('replay', { delivery: id, exact: true }),
      },
    );
  }
  const primary = items.find(({ why }) => why === undefined);
  if (primary === undefined) return null;
  const rest = items.filter((item) => item !== primary);
  return (
    <div class="actions">
      <ActionButton primary key={primary.label} run={primary.run}>
        {primary.label}
      </ActionButton>
      {rest.length > 0 && <Menu label="More" items={rest} />}
      {primary.label === UNCHANGED && <span class="note">Not signed again: {cannotSign}.</span>}
    </div>
  );
}
