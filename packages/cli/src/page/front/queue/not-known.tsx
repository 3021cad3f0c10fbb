/** In place of a list that is empty only because the engine does not answer. */
export function NotKnown() {
  return <p class="empty">Not known: the queue does not answer.</p>;
}
