import { Controls } from './controls.js';
import { Delivery } from './delivery.js';
import { DeliveryList } from './delivery-list.js';
import { Endpoints } from './endpoints.js';
import { Filter } from './filter.js';
import { Heading } from './heading.js';
import { Messages } from './messages.js';

export function App() {
  return (
    <>
      <header>
        <Heading />
        <Controls />
        <Endpoints />
      </header>
      <main>
        <section class="overview" aria-label="Deliveries">
          <Filter />
          <DeliveryList />
        </section>
        <Delivery />
      </main>
      <Messages />
    </>
  );
}
