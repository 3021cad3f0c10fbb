import { say } from './store.js';

interface CopyButtonProps {
  /** What is copied, as the message names it: `body`, `id`. */
  what: string;
  label?: string;
  text: string | (() => Promise<string>);
}

/** A button that puts a text into the clipboard, and says so. */
export function CopyButton({ what, label = 'Copy', text }: CopyButtonProps) {
  const copy = async () => {
    try {
      // As a promise, since a browser may only allow the clipboard while the click is being handled.
      const blob = Promise.resolve(typeof text === 'string' ? text : text()).then(toBlob);
      await Promise.all([blob, navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })])]);
      say(`The ${what} is copied.`);
    } catch (error) {
      say(`The ${what} was not copied: ${error instanceof Error ? error.message : error}`, true);
    }
  };
  return (
    <button type="button" class="small" aria-label={label === 'Copy' ? `Copy the ${what}` : label} onClick={copy}>
      {label}
    </button>
  );
}

function toBlob(text: string): Blob {
  return new Blob([text], { type: 'text/plain' });
}
