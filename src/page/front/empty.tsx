import { Copy } from './copy.js';
import { useStore } from './use-store.js';

/** What to do as long as there is nothing to see. */
export function Empty() {
  const start = useStore((state) => state.start);
  const isEmpty = useStore((state) => state.connection !== 'opening' && state.total === 0);
  if (!isEmpty) return null;
  return (
    <div class="empty">
      <p>No deliveries yet.</p>
      {start && (
        <>
          <p>{start.text}</p>
          <p class="command">
            <code>{start.command}</code> <Copy what="command" text={start.command} />
          </p>
        </>
      )}
    </div>
  );
}
