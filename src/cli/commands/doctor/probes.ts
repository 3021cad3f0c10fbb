import { ACCEPTS } from './accepts.js';
import { DEDUPLICATES } from './deduplicates.js';
import { IN_TIME } from './in-time.js';
import type { Probe as GroupedProbe } from './probe.js';
import { REFUSES } from './refuses.js';

const GROUPS = {
  accepts: ACCEPTS,
  refuses: REFUSES,
  deduplicates: DEDUPLICATES,
  'in time': IN_TIME,
} as const satisfies Record<string, readonly GroupedProbe[]>;

/** A probe with its group. */
export type Probe = GroupedProbe & { group: keyof typeof GROUPS };

/** All probes. The first is the gate: if a valid delivery is not accepted, the others show nothing. */
export const PROBES: readonly Probe[] = Object.entries(GROUPS).flatMap(([group, probes]) =>
  probes.map((probe) => ({ ...probe, group: group as Probe['group'] })),
);
