import { durationOf } from '../../../duration.js';
import { useView } from './queue-hooks.js';

/** The state of the queue in three numbers. */
export function Numbers() {
  const stats = useView(({ queue }) => queue?.stats);
  const engine = useView(({ queue }) => queue?.engine);
  const isOld = useView(({ queue, connection }) => queue?.problem !== undefined || connection === 'lost');
  const hasJobs = stats !== undefined && stats.depth > 0;
  const oldest = stats?.oldestMs;
  const none = isOld ? 'not known' : '…';
  const styleOf = (style: string) => (isOld ? 'unknown' : style);
  return (
    <dl class="numbers" aria-label="Numbers of the queue">
      <div>
        <dt>{engine === 'rabbitmq' ? 'Waiting' : 'Waiting or running'}</dt>
        <dd class={styleOf('')}>{stats === undefined ? none : stats.depth.toLocaleString()}</dd>
      </div>
      <div>
        <dt>Oldest</dt>
        <dd class={styleOf(oldest === undefined ? 'unknown' : '')}>
          {stats === undefined ? none : !hasJobs ? 'none' : oldest === undefined ? 'not known' : durationOf(oldest)}
        </dd>
      </div>
      <div>
        <dt>Dead letters</dt>
        <dd class={styleOf(stats !== undefined && stats.dead > 0 ? 'bad' : '')}>
          {stats === undefined ? none : stats.dead.toLocaleString()}
        </dd>
      </div>
    </dl>
  );
}
