import { describe, expect, it } from 'vitest';
import { mustBeBytes } from '../../src/adapters/trial.js';
import { BrokenRule } from '../../src/define-suite.js';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the comparison of the bytes', () => {
  it('equal bytes in other memory are accepted', () => {
    expect(() => mustBeBytes(bytes('{"a": 1}'), bytes('{"a": 1}'))).not.toThrow();
    expect(() => mustBeBytes(Buffer.from('{"a": 1}'), bytes('{"a": 1}'))).not.toThrow();
  });

  it.each([
    ['differ in one byte', bytes('{"a": 2}')],
    ['end sooner', bytes('{"a": 1')],
    ['go on', bytes('{"a": 1}\n')],
    ['are missing', undefined],
  ])('bytes that %s are refused', (_, found) => {
    expect(() => mustBeBytes(found, bytes('{"a": 1}'))).toThrow(BrokenRule);
  });
});
