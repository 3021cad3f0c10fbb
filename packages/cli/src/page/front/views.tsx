const NAMES = { deliveries: 'Deliveries', queue: 'Queue', jobs: 'Jobs' } as const;
const ADDRESSES = { deliveries: '/', queue: '/page/queue', jobs: '/page/jobs' } as const;
type View = keyof typeof NAMES;

/** Links to the other views, where the server has several. */
export function Views({ current }: { current: View }) {
  const all = (document.querySelector<HTMLMetaElement>('meta[name=page-views]')?.content.split(' ') ?? []) as View[];
  if (all.length < 2) return null;
  return (
    <nav class="views" aria-label="Views">
      {all.map((view) => (
        <a key={view} href={ADDRESSES[view]} aria-current={view === current ? 'page' : undefined}>
          {NAMES[view]}
        </a>
      ))}
    </nav>
  );
}
