export type { Overflow } from '../limited-overflow.js';
export { postgresOverflow } from './postgres-overflow.js';
export { type R2Bucket, r2Overflow } from './r2-overflow.js';
export { sqliteOverflow } from './sqlite-overflow.js';
