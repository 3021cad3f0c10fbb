import { join } from 'node:path';

// Of this example alone: the library is a link to the repository, which is the folder above.
export default { turbopack: { root: join(import.meta.dirname, '../..') } };
