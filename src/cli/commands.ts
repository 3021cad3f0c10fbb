import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Session } from './session.js';

/** One command; what it is made of is loaded when it is needed, so that the program starts at once. */
interface CommandEntry {
  name: string;
  summary: string;
  load(): Promise<(session: Session) => CommandUnknownOpts>;
  /** Not for people: the help does not list it. */
  hidden?: true;
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'listen',
    summary: 'receive deliveries, and hand them to your app',
    load: async () => (await import('./commands/listen.js')).listenCommand,
  },
  {
    name: 'dev',
    summary: 'the service on your machine: deliveries, retries, its API, a page',
    load: async () => (await import('./commands/dev.js')).devCommand,
  },
  {
    name: 'send',
    summary: 'a signed event to a receiver',
    load: async () => (await import('./commands/send.js')).sendCommand,
  },
  {
    name: 'replay',
    summary: 'a captured delivery again',
    load: async () => (await import('./commands/replay.js')).replayCommand,
  },
  {
    name: 'doctor',
    summary: 'what your endpoint does with good and hostile deliveries',
    load: async () => (await import('./commands/doctor.js')).doctorCommand,
  },
  {
    name: 'sign',
    summary: 'the signature headers of a body',
    load: async () => (await import('./commands/sign.js')).signCommand,
  },
  {
    name: 'verify',
    summary: 'whether a delivery is genuine',
    load: async () => (await import('./commands/verify.js')).verifyCommand,
  },
  {
    name: 'explain',
    summary: 'why a delivery does not verify',
    load: async () => (await import('./commands/explain.js')).explainCommand,
  },
  {
    name: 'endpoints',
    summary: 'the webhook endpoints of your account: list, ensure, update, delete',
    load: async () => (await import('./commands/endpoints.js')).endpointsCommand,
  },
  {
    name: 'limits',
    summary: 'whether your API key works, and what is left',
    load: async () => (await import('./commands/limits.js')).limitsCommand,
  },
  {
    name: 'usage',
    summary: 'quotas and recent consumption of your account',
    load: async () => (await import('./commands/usage.js')).usageCommand,
  },
  {
    name: 'completion',
    summary: 'completion for your shell',
    load: async () => (await import('./commands/completion.js')).completionCommand,
  },
  {
    name: 'complete',
    summary: 'what may come next',
    load: async () => (await import('./commands/complete.js')).completeCommand,
    hidden: true,
  },
];
