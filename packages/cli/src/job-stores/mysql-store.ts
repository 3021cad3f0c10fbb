import { mysqlStore } from 'service-webhooks/stores/mysql';
import { connectMysql } from '../mysql-client.js';
import { MYSQL_URL } from '../server-url.js';
import type { JobStoreEngine } from './job-store-engine.js';

const NO_SUCH_TABLE = 1146;

export const mysqlJobStore: JobStoreEngine = {
  name: 'mysql',
  url: MYSQL_URL,
  async open({ address, table }) {
    const { client, close } = await connectMysql(address);
    return { store: mysqlStore(client, { table }), close };
  },
  isMissing: (error) => Object(error).errno === NO_SUCH_TABLE,
};
