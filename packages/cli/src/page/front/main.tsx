import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { connect } from './connection.js';
import { Delivery } from './delivery.js';
import { DeliveryList } from './delivery-list.js';
import { Endpoints } from './endpoints.js';
import { Filter } from './filter.js';
import { Heading } from './heading.js';
import { Messages } from './messages.js';
import { followAddress, followKeys } from './navigation.js';
import { PageActions } from './page-actions.js';
import { followSearch } from './search.js';
import { useStore } from './store-hooks.js';
import { useNarrow } from './use-narrow.js';

followAddress();
followKeys();
followSearch();
render(<App />, document.body);
connect();

function App() {
  const isOpen = useStore((state) => state.selected !== undefined);
  const isNarrow = useNarrow();
  const isCovered = isNarrow && isOpen;
  useFocus(isOpen, isCovered);
  return (
    <>
      <header inert={isCovered}>
        <Heading />
        <PageActions />
        <Endpoints isFolded={isNarrow} />
      </header>
      <main class={isOpen ? 'opened' : ''}>
        <section class="overview" aria-label="Deliveries" inert={isCovered}>
          <Filter />
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
