import { beforeAll, describe, expect, it } from 'vitest';

const load = (file: string) => import(new URL(`../scripts/evidence/coverage-fuzz/${file}.mjs`, import.meta.url).href);
const { buildSubjects } = await load('build-subjects');
const { search } = await load('search');
const { headerTarget } = await load('header-target');
const { envelopeTarget } = await load('envelope-target');

const SEED = 1;
let loadSubjects: (fault?: string[]) => Promise<unknown>;

beforeAll(async () => {
  loadSubjects = await buildSubjects();
});

describe.each([
  { name: 'the header', target: headerTarget, hard: 'macs > MAX_V1 + 1' },
  { name: 'the envelope', target: envelopeTarget, hard: '!type' },
])('fuzzing of $name, led by coverage', ({ target, hard }) => {
  it('plants each fault in one place of the library', async () => {
    for (const fault of target.faults) await expect(loadSubjects(fault)).resolves.toBeDefined();
  });

  it('finds a fault that no first input shows', async () => {
    const subjects = await loadSubjects(target.faults.find(([, wrong]: string[]) => wrong === hard));
    const { found, runs } = search(target, subjects, SEED, (tried: number) => tried >= 100_000);
    expect(found).toMatchObject({ input: expect.any(String), error: expect.stringContaining('AssertionError') });
    expect(runs).toBeGreaterThan(target.seeds.length);
  });

  it('finds nothing in the library, the same way from the same seed', async () => {
    const until = (tried: number) => tried >= 2_000;
    const one = search(target, await loadSubjects(), SEED, until);
    const again = search(target, await loadSubjects(), SEED, until);
    expect(one.found).toBeNull();
    expect(one).toEqual(again);
  });
});
