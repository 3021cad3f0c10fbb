import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createExplainer, EXPLANATIONS } from '../../../../src/cli/commands/listen/explainer.js';
import type { ListenOptions } from '../../../../src/cli/commands/listen/options.js';
import { aDelivery, type DeliveryParts, NOW, now, SECRET } from '../../../support/deliveries.js';

const options = { secrets: [SECRET], checks: {}, now } as unknown as ListenOptions;

function aMessage(parts: DeliveryParts = {}) {
  const { headers, body } = aDelivery(parts);
  return { method: 'POST', path: '/', headers: Object.entries(headers), body: Buffer.from(body as string) };
}
const unsigned = (bytes: number) => ({ ...aMessage(), headers: [], body: Buffer.alloc(bytes) });

describe('the explainer of listen', () => {
  it('the surest cause of a refusal is found', () => {
    expect(createExplainer(options)(aMessage({ at: NOW - 3_600_000 }))).toMatchObject({ cause: 'clock_ahead' });
  });

  it('a body over the limit is not explained', () => {
    const explain = createExplainer(options);
    expect(explain(unsigned(EXPLANATIONS.maxBodyBytes))).toBeDefined();
    expect(explain(unsigned(EXPLANATIONS.maxBodyBytes + 1))).toBeUndefined();
  });

  it('a flood of forged requests is explained so many times and no more', () => {
    const explain = createExplainer(options);
    const explained = Array.from({ length: 2 * EXPLANATIONS.count }, () => explain(unsigned(1)));
    expect(explained.filter(Boolean)).toHaveLength(EXPLANATIONS.count);
  });

  it('large forged requests are explained up to a number of bytes', () => {
    const explain = createExplainer(options);
    const fits = EXPLANATIONS.bytes / EXPLANATIONS.maxBodyBytes;
    const explained = Array.from({ length: EXPLANATIONS.count }, () => explain(unsigned(EXPLANATIONS.maxBodyBytes)));
    expect(explained.filter(Boolean)).toHaveLength(fits);
  });

  it('a decompression bomb is not expanded to find the cause', () => {
    const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024));
    const small = gzipSync(Buffer.alloc(512 * 1024));
    const headers = (body: Uint8Array) => Object.entries(aDelivery({ body }).headers);
    const sent = (plain: number, body: Buffer) => ({ ...aMessage(), headers: headers(Buffer.alloc(plain)), body });
    expect(createExplainer(options)(sent(4 * 1024 * 1024, bomb))).not.toMatchObject({ cause: 'compressed' });
    expect(createExplainer(options)(sent(512 * 1024, small))).toMatchObject({ cause: 'compressed' });
  });
});
