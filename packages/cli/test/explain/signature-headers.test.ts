import { describe, expect, it } from 'vitest';
import { readSignatureHeaders } from '../../src/explain/signature-headers.js';

const NOTHING = {
  ...{ v2: [], legacy: [], timestamp: undefined, contentLength: undefined, contentEncoding: undefined, findings: [] },
};

describe('the signature headers that explain reads', () => {
  it('names are found in any case, in an object, a Headers or pairs', () => {
    const headers = {
      'X-Service-Signature-V2': 'a',
      'x-service-signature': 'b',
      'X-SERVICE-TIMESTAMP': '7',
      'Content-Length': '12',
      'Content-Encoding': 'GZip',
      'x-other-signature-v2': 'c',
    };
    const expected = { v2: ['a'], legacy: ['b'], timestamp: '7', contentLength: 12, contentEncoding: 'gzip' };
    expect(readSignatureHeaders(headers)).toEqual({ ...expected, findings: [] });
    expect(readSignatureHeaders(new Headers(headers))).toEqual({ ...expected, findings: [] });
    expect(readSignatureHeaders(Object.entries(headers))).toEqual({ ...expected, findings: [] });
  });

  it('a header that came twice is read twice, and undefined is skipped', () => {
    const headers = { 'x-service-signature-v2': ['a', 'b'], 'x-service-signature': undefined };
    expect(readSignatureHeaders(headers)).toEqual({ ...NOTHING, v2: ['a', 'b'] });
    const pairs: [string, string][] = [
      ['x-service-signature', 'a'],
      ['x-service-signature', 'b'],
    ];
    expect(readSignatureHeaders(pairs)).toEqual({ ...NOTHING, legacy: ['a', 'b'] });
  });

  it('a prefix of the caller is used instead of the usual one', () => {
    const headers = { 'x-own-signature': 'a', 'x-own-timestamp': '7', 'x-service-signature': 'b' };
    expect(readSignatureHeaders(headers, 'X-Own')).toEqual({ ...NOTHING, legacy: ['a'], timestamp: '7' });
  });

  it.each([
    [{ HTTP_X_SERVICE_SIGNATURE_V2: 'a', HTTP_X_SERVICE_TIMESTAMP: '7' }, { v2: ['a'] }],
    [{ x_service_signature: 'a', x_service_timestamp: '7' }, { legacy: ['a'] }],
    [{ 'http-x-service-signature': 'a', 'http-x-service-timestamp': '7' }, { legacy: ['a'] }],
  ])('header names in CGI spelling or with underscores are found: %j', (headers, found) => {
    expect(readSignatureHeaders(headers)).toEqual({
      ...{ ...NOTHING, ...found, timestamp: '7' },
      findings: [{ cause: 'header_renamed', evidence: 'The signature headers came under names of another spelling.' }],
    });
  });

  it('CGI spellings are ignored where a header has its right name', () => {
    const headers = { HTTP_X_SERVICE_SIGNATURE_V2: 'a', 'x-service-signature': 'b', X_SERVICE_TIMESTAMP: '7' };
    expect(readSignatureHeaders(headers)).toEqual({ ...NOTHING, legacy: ['b'] });
  });

  it.each([
    [{ 'x-vendor-signature-v2': 'a', 'x-vendor-signature': 'b' }, 'x-vendor'],
    [{ HTTP_X_VENDOR_SIGNATURE_V2: 'a', HTTP_X_VENDOR_SIGNATURE: 'b' }, 'x-vendor'],
  ])('headers with another prefix are found, and the prefix is named: %j', (headers, prefix) => {
    const evidence = `The signature headers begin with ${prefix}, not with x-service.`;
    expect(readSignatureHeaders(headers)).toEqual({
      ...{ ...NOTHING, v2: ['a'], legacy: ['b'] },
      findings: [{ cause: 'header_prefix', evidence }],
    });
  });

  it.each([
    [{ 'x-vendor-signature': 'a' }],
    [{ 'x-http-service-signature': 'a' }],
    [{ '-signature-v2': 'a' }],
    [{ 'x-vendor-signature-v2-old': 'a' }],
    [{ 'x.vendor-signature-v2': 'a' }],
    [{ [`${'x'.repeat(65)}-signature-v2`]: 'a' }],
    [{}],
  ])('no signature header is found in %j', (headers) => {
    expect(readSignatureHeaders(headers)).toEqual(NOTHING);
  });

  it('a prefix has up to 64 characters', () => {
    const prefix = 'x'.repeat(64);
    expect(readSignatureHeaders({ [`${prefix}-signature-v2`]: 'a' }).v2).toEqual(['a']);
  });

  it.each([
    ['0', 0],
    ['123456789012345', 123_456_789_012_345],
    ['1234567890123456', undefined],
    ['', undefined],
    ['-1', undefined],
    ['1x', undefined],
    ['x1', undefined],
  ])('Content-Length %j is read as %s', (value, contentLength) => {
    expect(readSignatureHeaders({ 'content-length': value }).contentLength).toBe(contentLength);
  });
});
