import { postgresStore } from 'service-webhooks/stores/postgres';
import { connectPostgres } from '../postgres-client.js';
import { POSTGRES_URL } from '../server-url.js';
import type { JobStoreEngine } from './job-store-engine.js';

export const postgresJobStore: JobStoreEngine = {
  name: 'postgres',
  url: POSTGRES_URL,
  async open({ address, table }) {
    const { client, close } = await connectPostgres(address);
    return { store: postgresStore(client, { table }), close };
  },
  isMissing: (error) => Object(error).code === '42P01',
};
