import { describe, expect, it } from 'vitest';
import { groupLetters, reasonPattern } from '../../src/queues/letter-groups.js';

const letters = (...reasons: (string | undefined)[]) =>
  reasons.map((reason, index) => ({ id: `${index}`, reason, type: undefined, at: undefined }));
const groupsOf = (...reasons: (string | undefined)[]) =>
  groupLetters(letters(...reasons)).map(({ reason, letters: { length } }) => [length, reason]);

describe('dead letters that are grouped by their reason', () => {
  it('equal reasons are one group, the most frequent one first', () => {
    expect(groupsOf('no room', 'no clip', 'no clip')).toEqual([
      [2, 'no clip'],
      [1, 'no room'],
    ]);
  });

  it.each([
    ['numbers', 'Timeout after 3012 ms', 'Timeout after 2994 ms', 'Timeout after … ms'],
    ['event ids', 'evt_01J8Z4Q7A is unknown', 'evt_01J8Z4Q7B is unknown', '… is unknown'],
    ['UUIDs', 'no row 3f0c9a1e-5a1b-4c3d-8e2f-000000000001', 'no row 77aa9a1e-5a1b-4c3d-8e2f-000000000002', 'no row …'],
    ['times', 'locked until 2026-07-11T12:00:00.000Z', 'locked until 2026-07-11T12:00:07Z', 'locked until …'],
    [
      'addresses',
      'connect ECONNREFUSED 10.0.0.7:5432',
      'connect ECONNREFUSED 10.0.0.9:5432',
      'connect ECONNREFUSED …:5432',
    ],
    ['hashes', 'no file 9f86d081884c7d65', 'no file 2c26b46b68ffc68f', 'no file …'],
  ])('reasons that differ in %s are one group', (_, one, other, shown) => {
    expect(groupsOf(one, other)).toEqual([[2, shown]]);
    expect(groupsOf(one, one)).toEqual([[2, one]]);
  });

  it.each([
    ['Request failed with status code 503', 'Request failed with status code 404'],
    ['HTTP/1.1 502 of the proxy', 'HTTP/1.1 401 of the proxy'],
    ['{"status":500}', '{"status":422}'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.1:6379'],
    ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED ::1:6379'],
    ['no answer from http://redis:6379/', 'no answer from http://redis:6380/'],
    ['db.internal:5432 is away', 'db.internal:5433 is away'],
  ])('a status or a port tells the reasons apart: %s', (one, other) => {
    expect(groupsOf(one, other)).toHaveLength(2);
  });

  it.each([
    ['a status with 3 digits of its own', 'status 2001 ms', 'status 2002 ms'],
    ['a number that is no error status', 'code 200 of 17', 'code 204 of 18'],
    ['the port of one connection', 'read ECONNRESET 10.0.0.7:49152', 'read ECONNRESET 10.0.0.7:50001'],
    ['a line and a column', 'SyntaxError at clip.json:14:20', 'SyntaxError at clip.json:15:21'],
  ])('reasons that differ only in %s are one group', (_, one, other) => {
    expect(groupsOf(one, other)).toHaveLength(1);
  });

  it('words that look like no id are kept', () => {
    for (const reason of ['The database is locked', 'deadbeef is a word', 'data.clip_id is missing'])
      expect(reasonPattern(reason)).toBe(reason);
  });

  it('letters without a reason are a group of their own', () => {
    expect(groupsOf(undefined, '', 'no clip')).toEqual([
      [2, 'No reason is known.'],
      [1, 'no clip'],
    ]);
  });

  it('a very long reason of digits is grouped in a time that its length explains', () => {
    for (const text of ['1 ', 'http', 'status:', '//a', '.a-', '1.1.1.1:', '1'])
      expect(reasonPattern(text.repeat(500_000)).length).toBeLessThan(400);
  });
});
