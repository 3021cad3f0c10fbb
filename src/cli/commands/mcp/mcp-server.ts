import type { Readable } from 'node:stream';
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, type RpcId, serveJsonRpc } from './json-rpc.js';
import type { ToolResult } from './tool-result.js';

/** What a model can call. */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: { type: 'object'; properties: Record<string, object>; required?: readonly string[] };
  /** @throws WebhookError, Failure for a call that the model can correct */
  call(input: Record<string, unknown>, signal: AbortSignal): Promise<ToolResult>;
}

export interface McpOptions {
  version: string;
  /** For the model: what the tools are for. */
  instructions: string;
  tools: readonly Tool[];
  /** Returns the result of a call that threw. */
  failed(error: unknown): ToolResult;
}

/** Versions of the protocol in which tools over stdio are the same, the newest first. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** A server of the Model Context Protocol over stdio, with tools alone. Resolves when the client has gone. */
export async function serveMcp(
  input: Readable,
  write: (line: string) => void,
  { version, instructions, tools, failed }: McpOptions,
): Promise<void> {
  const running = new Map<RpcId, AbortController>();

  async function callTool({ name, arguments: input = {} }: Record<string, unknown>, id: RpcId | undefined) {
    const tool = tools.find((known) => known.name === name);
    if (tool === undefined)
      throw new RpcError(INVALID_PARAMS, `There are: ${tools.map((one) => one.name).join(', ')}.`);
    const stop = new AbortController();
    if (id !== undefined) running.set(id, stop);
    try {
      return await tool.call(Object(input), stop.signal);
    } catch (error) {
      return failed(error);
    } finally {
      if (id !== undefined) running.delete(id);
    }
  }

  await serveJsonRpc(input, write, async (method, params, id) => {
    if (method === 'initialize') {
      const asked = PROTOCOL_VERSIONS.find((known) => known === params['protocolVersion']);
      const serverInfo = { name: 'service-webhooks', version };
      return { protocolVersion: asked ?? PROTOCOL_VERSIONS[0], capabilities: { tools: {} }, serverInfo, instructions };
    }
    if (method === 'ping') return {};
    if (method === 'tools/list') return { tools: tools.map(({ call: _, ...tool }) => tool) };
    if (method === 'tools/call') return callTool(params, id);
    if (method === 'notifications/cancelled') return running.get(params['requestId'] as RpcId)?.abort();
    if (id === undefined) return undefined; // notifications that are of no use here
    throw new RpcError(METHOD_NOT_FOUND, 'There is no such method.');
  });
  for (const stop of running.values()) stop.abort();
}
