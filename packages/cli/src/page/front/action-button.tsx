import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { say } from './store.js';
import { useBlocked } from './store-hooks.js';

interface ActionButtonProps {
  /** Starts the action. The button is disabled until it has ended, so that a second click has no effect. */
  run(): unknown;
  /** Why the action is not possible; undefined where it is. */
  why?: string | undefined;
  primary?: boolean;
  label?: string;
  children: ComponentChildren;
}

/** A button that has the program do something. While that is not possible, it says why. */
export function ActionButton({ run, why, primary = false, label, children }: ActionButtonProps) {
  const [busy, setBusy] = useState(false);
  const blocked = useBlocked() ?? why;
  const start = async () => {
    if (busy) return;
    if (blocked !== undefined) return say(blocked, true);
    setBusy(true);
    await run();
    setBusy(false);
  };
  return (
    <button
      type="button"
      class={primary ? 'primary' : undefined}
      aria-label={label}
      aria-disabled={busy || blocked !== undefined}
      title={blocked}
      onClick={start}
    >
      {children}
    </button>
  );
}
