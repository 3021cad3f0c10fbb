import { connect } from 'node:net';

export interface RawRequest {
  method?: string;
  path?: string;
  /** The Host header. */
  host?: string;
  /** As they go over the wire, in this order; one character is one byte. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}

export interface RawResponse {
  status: number;
  /** Lower-case names; the last of equal ones. */
  headers: Record<string, string>;
  body: string;
}

/** The bytes of a request, with nothing added but the request line, Host, Content-Length and Connection. */
export function toBytes({ method = 'POST', path = '/', host = 'receiver.test', headers, body }: RawRequest): Buffer {
  const framing: [string, string][] = [
    ['Host', host],
    ['Content-Length', String(body.length)],
    ['Connection', 'close'],
  ];
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), body]);
}

/** Sends bytes as they are over a socket of its own; resolves with the first answer as soon as it is complete. */
export function exchange(port: number, request: Uint8Array): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
      const response = parseResponse(received);
      if (response === undefined) return;
      socket.destroy();
      resolve(response);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`no complete answer, only ${JSON.stringify(received)}`)));
  });
}

/** Undefined while something is still to come. */
function parseResponse(text: string): RawResponse | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const rest = text.slice(end + 4);
  const body = headers['transfer-encoding'] === 'chunked' ? joinChunks(rest) : take(rest, headers['content-length']);
  return body === undefined ? undefined : { status: Number(statusLine.split(' ')[1]), headers, body };
}

function take(text: string, length = '0'): string | undefined {
  return text.length >= Number(length) ? text.slice(0, Number(length)) : undefined;
}

function joinChunks(text: string): string | undefined {
  let body = '';
  for (let rest = text; ; ) {
    const line = rest.indexOf('\r\n');
    if (line === -1) return undefined;
    const size = Number.parseInt(rest.slice(0, line), 16);
    const chunk = rest.slice(line + 2, line + 2 + size);
    if (size === 0) return body;
    if (chunk.length < size) return undefined;
    body += chunk;
    rest = rest.slice(line + 2 + size + 2);
  }
}
