import type { Mysql2Pool, MysqlClient } from 'service-webhooks/stores/mysql';
import { Failure } from './failure.js';
import { installed } from './installed.js';

const CONNECT_MS = 10_000;

interface Mysql2Module {
  createPool(options: object): Mysql2Pool & { end(): Promise<void> };
}

/** Connects with the client that the project in the current directory has installed. @throws Failure where it has none */
export async function connectMysql(url: string): Promise<{ client: MysqlClient; close(): Promise<void> }> {
  const mysql2 = installed<Mysql2Module>('mysql2/promise');
  if (!mysql2) throw new Failure('usage', 'this project has no mysql2. Install it.');
  const pool = mysql2.createPool({ uri: url, connectionLimit: 1, connectTimeout: CONNECT_MS });
  try {
    (await pool.getConnection()).release();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { client: { mysql2: pool }, close: () => pool.end() };
}
