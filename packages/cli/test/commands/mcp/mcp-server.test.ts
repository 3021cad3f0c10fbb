import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { serveMcp } from '../../../src/commands/mcp/mcp-server.js';

const MIB = 1024 * 1024;

it('a line without an end ends the session before it fills the memory', async () => {
  let sent = 0;
  const endless = new Readable({
    read() {
      sent += MIB;
      this.push(Buffer.alloc(MIB, 'x'));
    },
  });
  const written: string[] = [];
  await serveMcp(endless, (line) => written.push(line), {
    version: '1',
    instructions: '',
    tools: [],
    failed: () => ({ content: [] }),
  });
  expect(sent).toBeLessThan(20 * MIB);
  expect(written).toEqual([]);
});
