import type { Readable } from 'node:stream';
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

/** One request or notification; the error is what the caller reads. */
class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Calls a method. A notification has no id and gets no answer. */
type RpcHandler = (method: string, params: Record<string, unknown>, id: RpcId | undefined) => Promise<unknown>;
type RpcId = string | number;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const FAULT = { code: -32_603, message: 'A fault of this program.' };
/** More than any call has. */
const MAX_LINE_CHARACTERS = 16 * 1024 * 1024;

/** JSON-RPC 2.0 over two streams, a message on a line each. Calls run side by side. Resolves when the input ends. */
async function serveJsonRpc(input: Readable, write: (line: string) => void, handle: RpcHandler): Promise<void> {
  const send = (message: object) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

  async function take(line: string): Promise<void> {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return send({ id: null, error: { code: PARSE_ERROR, message: 'The line is no JSON.' } });
    }
    const { id, method, params = {} } = Object(message) as { [field: string]: unknown };
    const isCall = typeof id === 'string' || typeof id === 'number';
    if (typeof method !== 'string' || typeof params !== 'object' || params === null) {
      // An answer, which nothing here waits for, has an id and no method.
      if (!isCall || method !== undefined) send({ id: null, error: { code: INVALID_REQUEST, message: 'No request.' } });
      return;
    }
    try {
      const result = await handle(method, params as Record<string, unknown>, isCall ? id : undefined);
      if (isCall) send({ id, result });
    } catch (error) {
      // The text of any other error may come from an event or an app.
      const { code, message } = error instanceof RpcError ? error : FAULT;
      if (isCall) send({ id, error: { code, message } });
    }
  }

  let rest = '';
  for await (const chunk of input.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARACTERS) break;
    for (const line of lines) if (line.trim() !== '') void take(line);
  }
}
