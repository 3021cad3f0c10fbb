import { skipped } from '../file-of.js';
import { framework } from '../framework.js';
import type { Connected } from '../orms/libraries.js';

const FOLDER = 'mikro-orm-7';
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** MikroORM 7 on each database, where this Node can load it. */
export const MIKRO_ORM_7 = {
  postgres: connecting('@mikro-orm/postgresql'),
  mysql: connecting('@mikro-orm/mysql'),
};

function connecting(driver: string): Record<string, (url: string, schema?: string) => Promise<Connected>> {
  if (major < 22 || (major === 22 && minor < 17)) {
    skipped('MikroORM 7', 'needs Node 22.17');
    return {};
  }
  // biome-ignore lint/suspicious/noExplicitAny: the types of the package are not there when this repository is checked
  const { MikroORM, EntitySchema } = framework<any>(driver, FOLDER) ?? {};
  if (MikroORM === undefined) return {};
  return {
    async 'MikroORM 7'(url, schema) {
      const properties = { id: { type: 'text', primary: true } };
      const Clip = new EntitySchema({ name: 'Clip', tableName: 'clips', schema, properties });
      const orm = await MikroORM.init({ clientUrl: url, entities: [Clip] });
      const em = orm.em.fork();
      return {
        client: { mikroOrm: em },
        transaction: (work) => em.fork().transactional(work),
        insert: (tx: typeof em, id) => tx.insert(Clip, { id }),
        close: () => orm.close(),
      };
    },
  };
}
