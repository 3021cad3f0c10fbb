import { sqliteStore } from 'service-webhooks/stores/sqlite';
import { openSqliteFile } from '../installed.js';
import type { JobStoreEngine } from './job-store-engine.js';

export const sqliteJobStore: JobStoreEngine = {
  name: 'sqlite',
  async open({ address: file, table }) {
    const { handle, client } = openSqliteFile(file, { readonly: true });
    return { store: sqliteStore(client, { table }), close: async () => handle.close() };
  },
  isMissing: (error) => /no such table/.test(String(Object(error).message)),
};
