import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { SECRET } from '../../../../../test/support/deliveries.js';
import type { Cli } from '../../support/cli.js';

/** The client of the protocol's own SDK, which starts the program in a process of its own. */
export async function connectClient(cli: Cli, ...args: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [join(cli.bin, 'service-webhooks'), 'mcp', ...args] },
    ...{ env: { WEBHOOK_SECRET: SECRET, PATH: process.env['PATH'] ?? '' }, cwd: cli.cwd, stderr: 'pipe' },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

export const textsOf = (result: unknown) =>
  (result as CallToolResult).content.map((part) => (part.type === 'text' ? part.text : ''));
