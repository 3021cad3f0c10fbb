import { useLayoutEffect, useRef } from 'preact/hooks';
import { counted } from '../format.js';
import { change } from './queue-connection.js';
import { useView } from './queue-hooks.js';
import { set } from './queue-store.js';

/** Asks before letters are discarded. */
export function AskDialog() {
  const asked = useView((state) => state.asked);
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (asked) dialog.current?.showModal();
  }, [asked]);
  if (asked === undefined) return null;
  const { letters, title, count } = asked;
  const submit = (event: Event) => {
    event.preventDefault();
    dialog.current?.close(); // gives the focus back to the button that asked
    void change('discard', letters);
  };
  return (
    <dialog ref={dialog} aria-labelledby="ask-title" onClose={() => set({ asked: undefined })}>
      <form onSubmit={submit}>
        <h2 id="ask-title">{title}</h2>
        <p>Discarded letters are deleted from the queue. They cannot be retried any more.</p>
        <p class="control">
          <button type="submit" class="danger">
            Discard {counted(count, 'letter')}
          </button>
          <button type="button" autofocus onClick={() => dialog.current?.close()}>
            Keep
          </button>
        </p>
      </form>
    </dialog>
  );
}
