import { afterAll, describe, it } from 'vitest';
import { canStartNats, startNats } from '../../support/nats.js';
import { describePrograms } from './restarts.js';

const server = canStartNats() ? await startNats() : undefined;
afterAll(() => server?.stop());

describe('the documented queue recipe while NATS stops and starts again', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (server === undefined) return it.skip('no test runs without NATS', () => {});
  describePrograms({ section: 'NATS JetStream', variable: 'NATS_URL', server });
});
