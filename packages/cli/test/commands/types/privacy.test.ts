import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useCli } from '../../support/cli.js';
import { anEventWith } from './learned.js';

const cli = useCli();

const PERSON = {
  text: 'Anna Schmidt called from Bielefeld',
  email: 'anna@schmidt.example',
  phone: '+49 170 1234567',
  status: 'urgent',
  language: 'de-AT',
  recording: 'https://files.example/anna/9f8e7d?signature=c2lnbmF0dXJl',
  at: '2026-07-11T12:34:56.789Z',
  born: '1984-05-06',
  amount: 98765,
  tags: ['divorce', 'Bielefeld'],
  speakers: { 'Anna Schmidt': { score: 0.8123 }, 'Bob Meyer': { score: 0.9123 } },
  clips: { clip_9f8e7d: 'intro.wav', '550e8400-e29b-41d4-a716-446655440000': 'outro.wav' },
  segments: [{ start: 10.25, speaker: 'spk_17', words: [{ word: 'Scheidung' }] }],
  byEmail: [{ 'anna@schmidt.example': true }],
};
const KEYS = ['Anna Schmidt', 'Bob Meyer', 'clip_9f8e7d', '550e8400', 'anna@schmidt.example'];

/** The values of at least four characters, and the keys that are data. */
function valuesIn(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(valuesIn);
  return ['string', 'number'].includes(typeof value) && String(value).length >= 4 ? [String(value)] : [];
}

it.each(['types', 'zod', 'valibot'])(
  'no value and no key that is data is in anything that --format %s prints',
  async (format) => {
    const others = { ...PERSON, status: 'closed', amount: null, segments: [] };
    const events = [PERSON, others].map((data) => anEventWith(data, { id: 'Bielefeld-4711' }));
    const lines = events.map((event) => JSON.stringify({ ...event, jobId: 'job_of_anna' })).join('\n');
    writeFileSync(join(cli.cwd, 'events.jsonl'), lines);
    const printed: string[] = [];
    for (const args of [
      [],
      ['--out', 'out.ts'],
      ['--out', 'out.ts', '--check'],
      ['--text'],
      ['--text', '--out', 'out.ts'],
    ]) {
      const { exitCode, stdout, stderr } = await cli.run(['types', 'events.jsonl', '--format', format, ...args]);
      expect(exitCode).toBe(0);
      printed.push(stdout, stderr);
    }
    printed.push(readFileSync(join(cli.cwd, 'out.ts'), 'utf8'));
    const secrets = [
      ...valuesIn(PERSON),
      ...valuesIn(others),
      ...KEYS,
      'Bielefeld-4711',
      'job_of_anna',
      'Scheidung',
      'spk_',
    ];
    expect(secrets.length).toBeGreaterThan(30);
    for (const secret of secrets) expect(printed.join('\n')).not.toContain(secret);
    expect(printed.join('\n')).toContain('segments');
  },
);
