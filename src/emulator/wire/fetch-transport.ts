import { setImmediate } from 'node:timers/promises';
import type { AnswerTime } from './answer-time.js';
import { MAX_ANSWER_BYTES, piecesOf, type Sent, type Transport, type WireRequest } from './transport.js';

/** A receiver in the same process, or anything else that answers a Fetch request. */
export type FetchReceiver = (request: Request) => Response | Promise<Response>;

/** Hands requests to a function instead of the network. */
export function createFetchTransport(fetch: FetchReceiver): Transport {
  return { send: (wire, time) => exchange(fetch, wire, time), close() {} };
}

async function exchange(fetch: FetchReceiver, wire: WireRequest, time: AnswerTime): Promise<Sent> {
  const passed = new Promise<undefined>((resolve) => time.onPassed(() => resolve(undefined)));
  const { url, headers, reset } = wire;
  // Bytes wherever they can be: a stream costs more, and needs them to be asked for.
  const body = wire.slow || reset === 'request' ? streamOf(wire, time) : new Uint8Array(wire.body);
  const init = { method: 'POST', headers, body, redirect: 'manual', duplex: 'half' } as const;
  await setImmediate(); // a turn of its own, as from a socket: else a busy sender would let nothing else have one
  const response = await Promise.race([fetch(new Request(url, init)), passed]);
  if (response === undefined) return { failed: 'timeout' };
  const answer = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await readText(response.body, passed),
  };
  return reset === undefined ? { answer } : { answer, failed: 'connection_error', error: 'connection reset' };
}

function streamOf(wire: WireRequest, time: AnswerTime): ReadableStream<Uint8Array> {
  const pieces = piecesOf(wire);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = pieces.next();
        if (!done && (value.afterMs === 0 || (await time.hold(value.afterMs)))) controller.enqueue(value.bytes);
        else if (done && wire.reset !== 'request') controller.close();
        else controller.error(new Error('connection reset'));
      },
    },
    { highWaterMark: 0 },
  );
}

/** The status decides: of a body that breaks off, or does not end in time, there is what came of it. */
async function readText(body: Response['body'], passed: Promise<undefined>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = '';
  let size = 0;
  try {
    while (size < MAX_ANSWER_BYTES) {
      const read = await Promise.race([reader?.read(), passed]);
      if (read?.value === undefined) break;
      text += decoder.decode(read.value.subarray(0, MAX_ANSWER_BYTES - size), { stream: true });
      size += read.value.length;
    }
  } catch {}
  reader?.cancel().catch(() => {});
  reader?.releaseLock(); // a receiver may answer with one Response every time
  return text + decoder.decode();
}
