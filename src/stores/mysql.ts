export type { Mysql2CallbackPool, Mysql2Connection, Mysql2Pool, Mysql2Query, MysqlClient } from './mysql/client.js';
export { type MysqlStoreOptions, mysqlStore } from './mysql/mysql-store.js';
