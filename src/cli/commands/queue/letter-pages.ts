import type { DeadLetter } from '../../../queue/dead-letters.js';

type ReadPage<Letter> = (page: { limit: number; offset: number }) => Promise<readonly Letter[]>;

/** Small enough that the largest bodies fit into memory, and large enough to limit the number of calls. */
const [FIRST_PAGE, LARGEST_PAGE, PAGE_BYTES] = [20, 250, 8 * 1024 * 1024];
const EVERYTHING = 1_000_000;

/** Reads letters page by page, each once. Pages are as large as the bodies of the last one allow. */
export async function* letterPages<Letter extends DeadLetter>(
  read: ReadPage<Letter>,
  { hasNoPages = false }: { hasNoPages?: boolean | undefined } = {},
): AsyncGenerator<Letter> {
  if (hasNoPages) return yield* await read({ limit: EVERYTHING, offset: 0 });
  const seen = new Set<string>();
  let limit = FIRST_PAGE;
  for (let offset = 0; ; ) {
    const page = await read({ limit, offset });
    for (const letter of page) {
      if (seen.has(letter.id)) continue; // it moved while others came or went
      seen.add(letter.id);
      yield letter;
    }
    if (page.length < limit) return;
    offset += page.length;
    const bytes = page.reduce((sum, { delivery }) => sum + (delivery?.body.length ?? 0), 0);
    const fitting = Math.floor((PAGE_BYTES * page.length) / Math.max(bytes, 1));
    limit = Math.max(FIRST_PAGE, Math.min(fitting, 2 * limit, LARGEST_PAGE));
  }
}
