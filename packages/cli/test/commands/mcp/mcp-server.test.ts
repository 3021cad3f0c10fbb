import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { serveMcp } from '../../../src/commands/mcp/mcp-server.js';

const MIB = 1024 * 1024;
const SERVER = { version: '1', instructions: '', tools: [], failed: () => ({ content: [] }) };

it('a line without an end ends the session before it fills the memory', async () => {
  let sent = 0;
  const endless = new Readable({
    read() {
      sent += MIB;
      this.push(Buffer.alloc(MIB, 'x'));
    },
  });
  const written: string[] = [];
  await serveMcp(endless, (line) => written.push(line), { ...SERVER, dropped: () => {} });
  expect(sent).toBeLessThan(20 * MIB);
  expect(written).toEqual([]);
});

it('a line that is no message is reported, and the session goes on', async () => {
  const dropped: string[] = [];
  const written: string[] = [];
  const lines = ['{not json\n', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'];
  const input = Readable.from(lines.map((line) => Buffer.from(line)));
  await serveMcp(input, (line) => written.push(line), { ...SERVER, dropped: ({ message }) => dropped.push(message) });
  expect(dropped).toHaveLength(1);
  expect(written.map((line) => JSON.parse(line))).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
});
