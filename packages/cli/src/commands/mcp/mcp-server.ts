import { finished, type Readable, Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type Tool as ListedTool,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';

/** What a model can call. */
export interface Tool extends ListedTool {
  /** @throws WebhookError, Failure for a call that the model can correct */
  call(input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
}

export interface McpOptions {
  version: string;
  /** For the model: what the tools are for. */
  instructions: string;
  tools: readonly Tool[];
  /** Returns the result of a call that threw. */
  failed(error: unknown): CallToolResult;
  /** Receives the reason why a line of the client got no answer. */
  dropped(error: Error): void;
}

/** More than any call has. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * A server of the Model Context Protocol over stdio, with tools alone. Resolves when the client has gone, or has sent a
 * line that is too long.
 */
export async function serveMcp(
  input: Readable,
  write: (line: string) => void,
  { version, instructions, tools, failed, dropped }: McpOptions,
): Promise<void> {
  // McpServer wants schemas of Zod, and these are JSON Schema.
  const server = new Server({ name: 'service-webhooks', version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(({ call: _, ...tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There are: ${tools.map(({ name }) => name).join(', ')}.`);
    return tool.call(params.arguments ?? {}, signal).catch(failed);
  });

  server.onerror = dropped;
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const output = new Writable({ decodeStrings: false, write: (line, _, done) => done(void write(line)) });
  await server.connect(new StdioServerTransport(input, output, { maxBufferSize: MAX_LINE_BYTES }));
  finished(input, () => void server.close()); // the transport does not see the end of the input
  await closed;
}
