import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SECONDS = 60;

it(`a receiver leaks no memory, handle or rejection in ${SECONDS} s of good and hostile traffic`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'soak-'));
  try {
    const env = { ...process.env, SOAK_SECONDS: `${SECONDS}`, RESULTS: folder };
    await once(spawn(process.execPath, ['scripts/evidence/soak.mjs'], { env, stdio: 'ignore' }), 'exit');
    const { passed, figures } = JSON.parse(readFileSync(join(folder, 'soak.json'), 'utf8'));
    expect(figures).toMatchObject({ seconds: SECONDS, left: [], unhandled: [], warnings: [], wrong: [], exitCode: 0 });
    expect(figures.handled).toBeGreaterThan(1_000);
    expect(figures.hostile).toBeGreaterThan(1_000);
    expect(passed).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
