import { afterAll, describe, it, vi } from 'vitest';
import { startPrivateRabbitmq } from '../../support/rabbitmq.js';
import { describePrograms } from './restarts.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 }); // several processes have to start

const server = await startPrivateRabbitmq();
afterAll(() => server?.stop());

describe('the documented queue recipe while RabbitMQ stops and starts again', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (server === undefined) return it.skip('no test runs without RabbitMQ', () => {});
  describePrograms({ section: 'RabbitMQ', variable: 'RABBITMQ_URL', server });
});
