/** What happened in a simulated world, line by line. */
export interface Story {
  readonly lines: readonly string[];
  /** Adds a line: the first one of a text, at most 200 characters. `who` is a process or another part of the world. */
  tell(who: string, what: string): void;
  /** Returns the name of an event in the story. */
  nameOf(eventId: string): string;
}

const MOST_LINES = 20_000;
const LONGEST_LINE = 200;

export function createStory(elapsed: () => number): Story {
  const lines: string[] = [];
  const events = new Map<string, string>();
  return {
    lines,
    tell(who, what) {
      const [line = ''] = what.split('\n', 1);
      if (lines.length < MOST_LINES)
        lines.push(`${timeOf(elapsed())}  ${who.padEnd(12)} ${line.slice(0, LONGEST_LINE)}`);
    },
    nameOf(eventId) {
      const name = events.get(eventId) ?? `event ${events.size + 1}`;
      events.set(eventId, name);
      return name;
    },
  };
}

/** Returns hours, minutes and seconds: `0:02:30.017`. */
function timeOf(ms: number): string {
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  const hours = Math.floor(ms / 3_600_000);
  return `${hours}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}.${String(ms % 1000).padStart(3, '0')}`;
}
