import { setImmediate } from 'node:timers/promises';
import type { AnswerTime } from './answer-time.js';
import { createFirstBytes } from './first-bytes.js';
import { MAX_ANSWER_BYTES, piecesOf, type Sent, type Transport, type WireRequest } from './transport.js';

/** A receiver in the same process, or any other function that answers a Fetch request. */
export type FetchReceiver = (request: Request) => Response | Promise<Response>;

/** Passes requests to a function instead of the network. */
export function createFetchTransport(fetch: FetchReceiver): Transport {
  return { send: (wire, time) => exchange(fetch, wire, time), close() {} };
}

async function exchange(fetch: FetchReceiver, wire: WireRequest, time: AnswerTime): Promise<Sent> {
  const passed = new Promise<undefined>((resolve) => time.onPassed(() => resolve(undefined)));
  const { url, headers, reset } = wire;
  // Only a body in pieces needs a stream.
  const body = wire.slow || reset === 'request' ? streamOf(wire, time) : new Uint8Array(wire.body);
  const init = { method: 'POST', headers, body, redirect: 'manual', duplex: 'half' } as const;
  const response = await Promise.race([fetch(new Request(url, init)), passed]);
  if (response === undefined) return { failed: 'timeout' };
  await setImmediate(); // leaves time for other work, as a network does
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

/**
 * Reads the part of the body that arrives in time: the status decides, so a body that breaks off or never ends is no
 * failure.
 */
async function readText(body: Response['body'], passed: Promise<undefined>): Promise<string> {
  const kept = createFirstBytes(MAX_ANSWER_BYTES);
  const reader = body?.getReader();
  try {
    // Counts chunks too, because a stream of empty ones never reaches the limit in bytes.
    for (let chunks = 0; chunks < MAX_ANSWER_BYTES && kept.size < MAX_ANSWER_BYTES; chunks += 1) {
      const read = await Promise.race([reader?.read(), passed]);
      if (read?.value === undefined) break;
      kept.append(read.value);
    }
  } catch {}
  reader?.cancel().catch(() => {});
  reader?.releaseLock(); // a receiver may return the same Response each time
  return new TextDecoder().decode(kept.bytes());
}
