import { say } from './queue-store.js';

/** A button that puts a text into the clipboard, and says so. */
export function Copy({ what, text }: { what: string; text: string }) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say(`The ${what} is copied.`),
      (error) => say(`The ${what} was not copied: ${error instanceof Error ? error.message : error}`, true),
    );
  return (
    <button type="button" class="small" aria-label={`Copy the ${what}`} onClick={copy}>
      Copy
    </button>
  );
}
