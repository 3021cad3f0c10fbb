import { join } from 'node:path';

// Where Next is installed.
export default { turbopack: { root: join(import.meta.dirname, '../..') } };
