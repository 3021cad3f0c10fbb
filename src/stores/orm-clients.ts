/** A database or a transaction of `drizzle-orm`. */
export interface DrizzleClient {
  execute(query: string): PromiseLike<unknown>;
}

/** A `DataSource` of `typeorm`, or the `EntityManager` that `transaction` passes. */
export interface TypeormClient {
  query(query: string): Promise<unknown>;
}

/** A `Sequelize` of `sequelize`. */
export interface SequelizeClient {
  query(sql: string, options: { transaction?: never; raw: true }): Promise<unknown>;
}

/** A `Transaction` of `sequelize`. */
export interface SequelizeTransaction {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}
