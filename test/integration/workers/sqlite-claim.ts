import type { ClaimRequest } from '../../../src/stores/contract.js';
import { sqliteStore } from '../../../src/stores/sqlite.js';
import { clientOf, connect, type Driver } from '../sqlite.js';
import { input, say } from './messages.js';

// Claims one key, as another user where one is given, and says what came of it.
const { driver, file, request, as } = input<{ driver: Driver; file: string; request: ClaimRequest; as?: number }>();
connect(driver, file).close(); // loads the library, while it can be read
if (as !== undefined && process.getuid?.() === 0) process.setuid?.(as);
try {
  const store = sqliteStore(clientOf(driver, connect(driver, file)));
  await store.init?.();
  say(await store.claim(request));
} catch (error) {
  say({ ...(error as object), message: String(error) });
}
