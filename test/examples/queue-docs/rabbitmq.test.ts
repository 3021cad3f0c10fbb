import { afterAll, describe, it } from 'vitest';
import { startPrivateRabbitmq } from '../../support/rabbitmq.js';
import { describePrograms } from './restarts.js';

const server = await startPrivateRabbitmq();
afterAll(() => server?.stop());

describe('the documented queue recipe while RabbitMQ stops and starts again', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (server === undefined) return it.skip('no test runs without RabbitMQ', () => {});
  describePrograms({ section: 'RabbitMQ', variable: 'RABBITMQ_URL', server });
});
