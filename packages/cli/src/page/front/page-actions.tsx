import { useState } from 'preact/hooks';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { durationOf } from '../../duration.js';
import { ActionButton } from './action-button.js';
import { act } from './connection.js';
import { counted } from './format.js';
import { Menu, type MenuGroup, type MenuItem } from './menu.js';
import { OwnEventEditor } from './own-event-editor.js';
import { useStore } from './store-hooks.js';

const MINUTE = 60_000;
/** The waits of the schedule, and their sum. */
const STEPS = [MINUTE / 2, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 240 * MINUTE, 360 * MINUTE];
/** As many as a delivery has attempts, and fewer; more for an outage. */
const FAILURES = [1, 2, 3, 6, 20, 100];

/** Shows the actions on the source as a whole: a sample to send, and a menu. */
export function PageActions() {
  const offers = useStore((state) => state.offers);
  const failing = useStore((state) => state.overview.failing);
  const [type, setType] = useState<string>(WEBHOOK_EVENT_TYPES[0]);
  const [isWriting, setWriting] = useState(false);
  const { items, groups } = useMenu(() => setWriting(true));
  return (
    <div class="actions">
      {offers.includes('send') && (
        <>
          <ActionButton primary run={() => act('send', { type })}>
            Send a sample
          </ActionButton>
          <select aria-label="Type of event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
            {WEBHOOK_EVENT_TYPES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </>
      )}
      {items.length + groups.length > 0 && <Menu label="More" items={items} groups={groups} />}
      {failing > 0 && <span class="mark">the next {counted(failing, 'request fails', 'requests fail')}</span>}
      {isWriting && <OwnEventEditor onClose={() => setWriting(false)} />}
    </div>
  );
}

/** Returns the items of the menu that the source offers. */
function useMenu(write: () => void): { items: MenuItem[]; groups: MenuGroup[] } {
  const offers = useStore((state) => state.offers);
  const dead = useStore((state) => state.dead);
  const total = useStore((state) => state.total);
  const clear = () => {
    if (confirm('Remove all deliveries that have ended from this page?')) act('clear', {});
  };
  const items: MenuItem[] = [];
  if (offers.includes('emit')) {
    items.push({ label: 'Write an event …', hint: 'a sample to change and send', run: write });
  }
  if (offers.includes('redeliverDead')) {
    items.push({
      label: 'Start the retries of all dead deliveries again',
      why: dead === 0 ? 'No delivery is dead.' : undefined,
      hint: counted(dead, 'dead delivery', 'dead deliveries'),
      run: () => act('redeliverDead', {}),
    });
  }
  if (offers.includes('clear')) {
    const why = total === 0 ? 'The list is empty.' : undefined;
    items.push({ label: 'Clear the list …', hint: 'removes the deliveries that have ended', why, run: clear });
  }
  const groups: MenuGroup[] = [];
  if (offers.includes('advance')) {
    const steps = STEPS.map((ms) => ({ label: durationOf(ms), run: () => act('advance', { ms }) }));
    groups.push({ name: 'Skip time', hint: 'retries that become due start at once', items: steps });
  }
  if (offers.includes('failNext')) {
    const counts = FAILURES.map((count) => ({ label: `${count}`, run: () => act('failNext', { count }) }));
    groups.push({ name: 'Let the next requests fail', hint: 'the connection is reset', items: counts });
  }
  return { items, groups };
}
