import type { ComponentChildren } from 'preact';
import { useView } from './queue-hooks.js';
import { isChanging, say } from './queue-store.js';

interface ChangeButtonProps {
  run(): unknown;
  style?: string;
  label?: string;
  children: ComponentChildren;
}

const WHY = 'Another change runs: wait for its end, or cancel it.';

/** A button that changes letters, or asks before it does. While another change runs, it says so. */
export function ChangeButton({ run, style, label, children }: ChangeButtonProps) {
  const isBlocked = useView(isChanging);
  return (
    <button
      type="button"
      class={style}
      aria-label={label}
      aria-disabled={isBlocked}
      title={isBlocked ? WHY : undefined}
      onClick={() => (isBlocked ? say(WHY, true) : run())}
    >
      {children}
    </button>
  );
}
