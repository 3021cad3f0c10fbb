import type { Readable } from 'node:stream';

/** One request or notification; the error is what the caller reads. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Calls a method. A notification has no id and gets no answer. */
export type RpcHandler = (method: string, params: Record<string, unknown>, id: RpcId | undefined) => Promise<unknown>;
export type RpcId = string | number;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
const FAULT = { code: -32_603, message: 'A fault of this program.' };
/** More than any call has. */
const MAX_LINE_CHARACTERS = 16 * 1024 * 1024;

/** JSON-RPC 2.0 over two streams, a message on a line each. Calls run side by side. Resolves when the input ends. */
export async function serveJsonRpc(input: Readable, write: (line: string) => void, handle: RpcHandler): Promise<void> {
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
