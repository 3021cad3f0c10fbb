import { sampleEvent } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../../../test/support/failures.js';
import { sampleWith } from '../../../src/commands/send/set-fields.js';

const set = (...settings: string[]) =>
  sampleWith('generation.completed', settings) as unknown as Record<string, unknown>;
const dataOf = (...settings: string[]) => set(...settings)['data'] as Record<string, unknown>;

describe('a sample event with fields set by send --set', () => {
  it('nothing changes where no field is set', () => {
    const { data } = sampleEvent('generation.completed');
    expect(dataOf()).toEqual({ ...data, clipId: expect.stringContaining('clip_') });
    expect(set()['type']).toBe('generation.completed');
  });

  it('the sign = sets text, at the top or within', () => {
    expect(set('id=evt_x')['id']).toBe('evt_x');
    expect(dataOf('data.clipId=clip_x', 'data.feature=')).toMatchObject({ clipId: 'clip_x', feature: '' });
    expect(dataOf('data.feature=a=b:=c\nd')['feature']).toBe('a=b:=c\nd');
  });

  it('a number stays a number where the text is one', () => {
    expect(dataOf('data.durationSec=7.5')['durationSec']).toBe(7.5);
    for (const text of ['', ' ', 'long', '1e999']) expect(dataOf(`data.durationSec=${text}`)['durationSec']).toBe(text);
    expect(dataOf('data.clipId=7')['clipId']).toBe('7');
  });

  it('the sign := sets JSON', () => {
    expect(dataOf('data.tags:=["a",1]', 'data.clipId:=7')).toMatchObject({ tags: ['a', 1], clipId: 7 });
  });

  it.each([
    ['data.a.b=1', 'data.a.c.d=2', { b: '1', c: { d: '2' } }],
    ['data.a=1', 'data.a.b=2', { b: '2' }],
    ['data.a.b=1', 'data.a=2', '2'],
    ['data.a=1', 'data.a=2', '2'],
    ['data.a:=null', 'data.a.b=2', { b: '2' }],
  ])('objects on the way are made or kept: %s, then %s', (first, second, a) => {
    expect(dataOf(first, second)['a']).toEqual(a);
  });

  it('__proto__ is a name like others', () => {
    set('__proto__.polluted=1', 'data.__proto__.polluted=1');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(set('__proto__.a=1', '__proto__.b=2'))).toContain('"__proto__":{"a":"1","b":"2"}');
    expect(JSON.stringify(dataOf('data.__proto__=1'))).toContain('"__proto__":"1"');
  });

  it.each(['', 'data', '=1', ':=1', 'a b=1', 'a:b=1', ' a=1'])('the setting %j is refused', (setting) => {
    expect(failureOf(() => set(setting))).toBe(
      `2: --set ${setting}: it takes field=text or field:=json, as in data.clipId=clip_1.`,
    );
  });

  it('a value that is no JSON is refused behind :=', () => {
    expect(failureOf(() => set('data.tags:=[a'))).toBe(
      '2: --set data.tags:=[a: what stands behind := is no JSON; = sets text.',
    );
  });
});
