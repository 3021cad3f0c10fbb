import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { say } from './store.js';
import { useBlocked } from './store-hooks.js';

export interface MenuItem {
  label: string;
  /** What the action does, for those who do not know it. */
  hint?: string | undefined;
  /** Why it is not possible now; undefined where it is. */
  why?: string | undefined;
  run(): unknown;
}

/** Items in one line, below their name. */
export interface MenuGroup {
  name: string;
  hint?: string | undefined;
  items: readonly MenuItem[];
}

interface MenuProps {
  label: string;
  items: readonly MenuItem[];
  groups?: readonly MenuGroup[];
}

/** A button that opens a menu of actions. It closes by a choice, by Escape, by Tab and by a click elsewhere. */
export function Menu({ label, items, groups = [] }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = (isFocused: boolean) => {
    setOpen(false);
    if (isFocused) button.current?.focus();
  };
  useOutside(isOpen, button, list, () => close(false));
  usePlace(isOpen, button, list);

  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1 }[
      event.key
    ];
    if (to !== undefined) all.at(to % all.length)?.focus();
    else if (event.key === 'Escape') close(true);
    else if (event.key === 'Tab')
      return close(true); // and on to what follows the button
    else return;
    event.preventDefault();
  };
  const choose = (item: MenuItem, why: string | undefined) => {
    close(true);
    if (why !== undefined) say(why, true);
    else item.run();
  };
  const onButtonKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    setOpen(true);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="opener"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={onButtonKey}
      >
        {label}
      </button>
      {isOpen && (
        <div ref={list} class="menu" role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map((item) => (
            <Item key={item.label} item={item} onChoose={choose} />
          ))}
          {groups.map(({ name, hint, items }) => (
            <fieldset key={name} aria-label={name}>
              <p role="presentation">
                {name}
                {hint && <span class="hint">{hint}</span>}
              </p>
              {items.map((item) => (
                <Item key={item.label} item={item} of={name} onChoose={choose} />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </>
  );
}

interface ItemProps {
  item: MenuItem;
  /** The group that it is in. */
  of?: string;
  onChoose(item: MenuItem, why: string | undefined): void;
}

function Item({ item, of, onChoose }: ItemProps) {
  const { label, hint } = item;
  const why = useBlocked() ?? item.why;
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      aria-label={of && `${of}: ${label}`}
      aria-disabled={why !== undefined}
      onClick={() => onChoose(item, why)}
    >
      {label}
      {(why ?? hint) && <span class="hint">{why ?? hint}</span>}
    </button>
  );
}

type Ref = { readonly current: HTMLElement | null };

/** Calls back when the pointer goes down outside of the menu and its button, or when the button moves. */
function useOutside(isOpen: boolean, opener: Ref, list: Ref, call: () => void): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    if (!isOpen) return;
    const onDown = ({ target }: Event) => {
      if (![opener, list].some(({ current }) => current?.contains(target as Node))) latest.current();
    };
    const onScroll = ({ target }: Event) => {
      if ((target as Node).contains(opener.current)) latest.current();
    };
    const onResize = () => latest.current();
    addEventListener('pointerdown', onDown, true);
    addEventListener('scroll', onScroll, true);
    addEventListener('resize', onResize);
    return () => {
      removeEventListener('pointerdown', onDown, true);
      removeEventListener('scroll', onScroll, true);
      removeEventListener('resize', onResize);
    };
  }, [isOpen]);
}

/** Space between the menu and its button, and the edge of the window, in pixels. */
const GAP = 4;

/** Puts the menu below its button, within the window, and focuses its first item. */
function usePlace(isOpen: boolean, button: Ref, list: Ref): void {
  useLayoutEffect(() => {
    const menu = list.current;
    const at = button.current?.getBoundingClientRect();
    if (!isOpen || !menu || !at) return;
    const left = Math.max(GAP, Math.min(at.left, innerWidth - menu.offsetWidth - GAP));
    const below = at.bottom + GAP;
    const fits = below + menu.offsetHeight <= innerHeight - GAP;
    menu.style.left = `${left}px`;
    menu.style.top = `${fits ? below : Math.max(GAP, innerHeight - menu.offsetHeight - GAP)}px`;
    menu.querySelector<HTMLElement>('[role=menuitem]')?.focus({ preventScroll: true });
  }, [isOpen]);
}
