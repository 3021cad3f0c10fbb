import type { IncomingMessage, ServerResponse } from 'node:http';
import { SimulationError, type SimulationOptions, simulate, type World } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { NODE_APPS } from './apps.js';

const firstSeeds = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** Plays a seed, and resolves to the error with its story. */
async function played<State>(
  receiver: (world: World<State>) => { listener: Listener },
  options: SimulationOptions<State>,
): Promise<SimulationError> {
  const check = () => {
    throw new Error('this is the end');
  };
  const ended = await simulate(receiver, { check, ...options }).catch((error) => error);
  expect(ended).toBeInstanceOf(SimulationError);
  return ended;
}

describe.each(Object.entries(NODE_APPS))('the app "%s"', (_, { receiver, options }) => {
  it('a seed plays the same world twice', async () => {
    for (const seed of firstSeeds(20)) {
      const { message } = await played(receiver as never, { ...options, seeds: [seed] });
      expect(message).toContain('The seed played the same world twice.');
    }
  });
});

describe("a listener of Node's HTTP server", () => {
  /** Counts the events of requests and responses, and prints each one. */
  const watching = ({ state, call }: World<Map<string, number>>): { listener: Listener } => ({
    async listener(req, res) {
      const occurs = (what: string) => () => {
        state.set(what, (state.get(what) ?? 0) + 1);
        console.log(what);
      };
      req.on('data', occurs('data')).on('end', occurs('end')).on('aborted', occurs('aborted'));
      req.on('error', occurs('request error')).on('close', occurs('request close'));
      res.on('finish', occurs('finish')).on('close', occurs('response close'));
      req.socket.on('close', occurs('connection close'));
      process.nextTick(occurs('nextTick'));
      setImmediate(occurs('setImmediate'));
      res.write('working', occurs('written'));
      await call('work', () => {}).catch(() => {});
      res.end('done', occurs('ended'));
    },
  });

  it('each of its events runs as a part of the process', async () => {
    const seen = new Map<string, number>();
    for (const seed of firstSeeds(50)) {
      let state = new Map<string, number>();
      const created = () => {
        state = new Map();
        return state;
      };
      const { story } = await played(watching, { seeds: [seed], state: created });
      for (const [what, times] of state) {
        expect(story.filter((line) => line.includes(` prints "${what}"`))).toHaveLength(times);
        seen.set(what, (seen.get(what) ?? 0) + times);
      }
    }
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(['aborted', 'connection close', 'data', 'end', 'finish', 'response close', 'written']),
    );
  });

  it('a process whose listener throws is killed, and the service retries', async () => {
    const failing = () => ({
      async listener() {
        throw new Error('no route');
      },
    });
    const { rule, story } = await played(failing, { seeds: [1], without: ['drop', 'pause', 'crash'] });
    expect(rule).toBe('delivered');
    expect(story.join('\n')).toMatch(/receiver-\d +ends with an uncaught error: Error: no route/);
  });
});
