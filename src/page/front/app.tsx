import { useEffect, useRef } from 'preact/hooks';
import { Controls } from './controls.js';
import { Delivery } from './delivery.js';
import { DeliveryList } from './delivery-list.js';
import { Empty } from './empty.js';
import { Endpoints } from './endpoints.js';
import { Filter } from './filter.js';
import { Heading } from './heading.js';
import { Messages } from './messages.js';
import { useKeys } from './use-keys.js';
import { useNarrow } from './use-narrow.js';
import { useStore } from './use-store.js';

export function App() {
  const isOpen = useStore((state) => state.selected !== undefined);
  const isNarrow = useNarrow();
  const isCovered = isNarrow && isOpen;
  useKeys();
  useFocus(isOpen, isCovered);
  return (
    <>
      <header inert={isCovered}>
        <Heading />
        <details class="tools" open={!isNarrow}>
          <summary>Controls</summary>
          <Controls />
          <Endpoints />
        </details>
      </header>
      <main class={isOpen ? 'opened' : ''}>
        <section class="overview" aria-label="Deliveries" inert={isCovered}>
          <Filter />
          <Empty />
          <DeliveryList />
        </section>
        <Delivery />
      </main>
      <Messages />
    </>
  );
}

/** What covers the list has the focus; when a delivery is closed, the list has it again. */
function useFocus(isOpen: boolean, isCovered: boolean): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isCovered) document.getElementById('delivery')?.focus();
    else if (wasOpen.current && !isOpen) document.querySelector<HTMLElement>('[role=listbox]')?.focus();
    wasOpen.current = isOpen;
  }, [isOpen, isCovered]);
}
