const NAMES = { deliveries: 'Deliveries', queue: 'Queue' } as const;
const ADDRESSES = { deliveries: '/', queue: '/page/queue' } as const;

/** Links to the other view, where the server has both. */
export function Views({ current }: { current: keyof typeof NAMES }) {
  const all = document.querySelector<HTMLMetaElement>('meta[name=page-views]')?.content.split(' ') ?? [];
  if (all.length < 2) return null;
  return (
    <nav class="views" aria-label="Views">
      {(['deliveries', 'queue'] as const).map((view) => (
        <a key={view} href={ADDRESSES[view]} aria-current={view === current ? 'page' : undefined}>
          {NAMES[view]}
        </a>
      ))}
    </nav>
  );
}
