export type { Mysql2CallbackPool, Mysql2Connection, Mysql2Pool, Mysql2Query, MysqlClient } from './mysql/client.js';
export { type MysqlStoreOptions, mysqlStore } from './mysql/mysql-store.js';
export { mysqlTableVersion } from './mysql/mysql-table-version.js';
export { mysqlTables } from './mysql/mysql-tables.js';
export type { SqlTable, SqlTables, TableNames } from './tables.js';
