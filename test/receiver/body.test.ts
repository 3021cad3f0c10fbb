import { getEventListeners, once } from 'node:events';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WebhookRequest } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStreamedRequest, bodyOf, inShort, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { throwing } from './traps.js';

const BODY = bodyOf({ data: { title: 'Grüße 🎧' } });
const BYTES = new TextEncoder().encode(BODY);
const BEGINNING = BYTES.subarray(0, 10);
const MIB = 1024 * 1024;

type Options = Parameters<typeof aReceiver>[0];

const answerTo = async (request: WebhookRequest, options?: Options) =>
  inShort(await aReceiver(options).receiver(request));

/** A good delivery whose body comes as this. */
const streamed = (body: unknown) => aStreamedRequest(body as AsyncIterable<Uint8Array>, { body: BODY });

/** The same without a signature, so that nothing of its body is needed. */
const unsigned = (body: unknown) => ({ ...streamed(body), headers: {} });

async function* chunksOf(bytes: Uint8Array, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

const webStream = (...chunks: unknown[]) => ReadableStream.from(chunks);

/** A body that breaks off with what is thrown. */
async function* broken(thrown: unknown): AsyncGenerator<Uint8Array> {
  yield BEGINNING;
  throw thrown;
}

const iterableOf = (iterator: object) => ({ [Symbol.asyncIterator]: () => iterator });
const unopenable = { [Symbol.asyncIterator]: throwing };

/** A body whose chunks a test pushes; it knows how much was taken and whether it was cut off. */
function aSource() {
  let push: (chunk: Uint8Array) => void = () => {};
  let end = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      push = (chunk) => controller.enqueue(chunk);
      end = () => controller.close();
    },
  });
  const chunks = stream[Symbol.asyncIterator]();
  const source = {
    taken: 0,
    cutOff: false,
    push,
    end,
    body: iterableOf({
      async next() {
        const result = await chunks.next();
        if (!result.done) source.taken += result.value.length;
        return result;
      },
      async return() {
        source.cutOff = true;
        return { done: true };
      },
    }),
  };
  return source;
}

describe('the body that a receiver reads', () => {
  it('every way of cutting it into chunks gives the same bytes, also within a character', async () => {
    for (let size = 1; size <= BYTES.length; size++) {
      const { receiver, find } = aReceiver();
      expect(inShort(await receiver(streamed(chunksOf(BYTES, size))))).toBe('200 handled');
      expect(find('handled').delivery.body).toEqual(BYTES);
    }
  });

  it.each<[string, () => unknown]>([
    ["Node's stream", () => Readable.from([Buffer.from(BODY)], { objectMode: false })],
    ['a Fetch stream', () => webStream(BEGINNING, BYTES.subarray(10))],
    ['text', () => BODY],
    ['bytes', () => BYTES],
    ['a Buffer', () => Buffer.from(BODY)],
    ['an ArrayBuffer', () => BYTES.buffer],
    ['a DataView', () => new DataView(BYTES.buffer)],
    ['chunks of which some are empty', () => webStream(new Uint8Array(0), BYTES, new Uint8Array(0))],
    ['an iterable with one method of a Node stream', () => Object.assign(chunksOf(BYTES, 9), { on() {} })],
  ])('the handler gets the exact bytes of a body given as %s', async (_, body) => {
    const { receiver, find } = aReceiver();
    expect(inShort(await receiver(streamed(body())))).toBe('200 handled');
    expect(Buffer.from(find('handled').delivery.body).toString()).toBe(BODY);
  });

  it('an empty body is verified against a signature of no bytes', async () => {
    for (const body of ['', null, new Uint8Array(0), webStream(), webStream(new Uint8Array(0))]) {
      expect(await answerTo({ ...aRequest({ body: '' }), body: body as null })).toBe('400 invalid_json');
      expect(await answerTo(streamed(body))).not.toBe('200 handled');
    }
  });

  it('a Node stream without bytes that has ended before is an empty body', async () => {
    const ended = Readable.from([]).resume();
    await once(ended, 'end');
    expect(await answerTo({ ...aRequest({ body: '' }), body: ended })).toBe('400 invalid_json');
  });

  it('a change of a chunk after it was read does not reach the handler', async () => {
    const { receiver, find } = aReceiver();
    const chunk = BYTES.slice();
    await receiver(streamed(webStream(chunk)));
    chunk.fill(0);
    expect(find('handled').delivery.body).toEqual(BYTES);
  });

  it('a body whose end is missing is refused with signature_mismatch', async () => {
    expect(await answerTo(streamed(webStream(BYTES.subarray(0, -1))))).toBe('401 signature_mismatch');
  });

  it('a delivery is handled although its sender disconnects after the whole body arrived', async () => {
    const controller = new AbortController();
    const request = { ...streamed(chunksOf(BYTES, 9)), signal: controller.signal };
    expect(await answerTo(request, { on: { '*': () => controller.abort() } })).toBe('200 handled');
  });
});

describe('the memory of a receiver and a body in chunks of one byte', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');

  it.each<[string, (chunks: AsyncIterable<Uint8Array>) => unknown]>([
    ['an async iterable', (chunks) => chunks],
    ['a Node stream', (chunks) => Readable.from(chunks, { objectMode: false })],
    ['a Fetch stream', (chunks) => ReadableStream.from(chunks)],
  ])('no chunk stays in memory of %s', async (_, toBody) => {
    const body = bodyOf({ data: { pad: 'x'.repeat(20_000) } });
    const refs: WeakRef<Uint8Array>[] = [];
    let alive = -1;
    async function* chunks() {
      for (const byte of new TextEncoder().encode(body)) {
        const chunk = Uint8Array.of(byte);
        refs.push(new WeakRef(chunk));
        // A reference that was just created is kept until the end of the job.
        if (refs.length % 1_000 === 0) await new Promise(setImmediate);
        yield chunk;
      }
      await new Promise(setImmediate);
      collect();
      alive = refs.filter((ref) => ref.deref() !== undefined).length;
    }
    const request = aStreamedRequest(toBody(chunks()) as AsyncIterable<Uint8Array>, { body });
    expect(await answerTo(request)).toBe('200 handled');
    expect(refs.length).toBeGreaterThan(20_000);
    expect(alive).toBeLessThan(2_000);
  });
});

describe('a body that other code has read or parsed before the receiver', () => {
  const parsed: [string, unknown][] = [
    ['an object', { id: 'evt_1' }],
    ['an empty object', {}],
    ['an array', []],
    ['a number', 7],
    ['false', false],
    ['a function', () => BODY],
    ['URLSearchParams', new URLSearchParams('id=evt_1')],
  ];
  const read: [string, () => unknown][] = [
    ['nothing', () => undefined],
    [
      'a locked stream',
      () => {
        const locked = webStream(BYTES);
        locked.getReader();
        return locked;
      },
    ],
    [
      'a Request that was read',
      async () => {
        const request = new Request('http://receiver.example/', { method: 'POST', body: BODY });
        await request.text();
        return request.body;
      },
    ],
    [
      'a Node stream that was read',
      async () => {
        const all = Readable.from([BYTES]);
        await all.toArray();
        return all;
      },
    ],
    [
      'a Node stream that was read in part',
      async () => {
        const some = Readable.from([BEGINNING, BYTES.subarray(10)]);
        await some[Symbol.asyncIterator]().next();
        return some;
      },
    ],
    ['a Node stream of text', () => Readable.from([BYTES], { objectMode: false }).setEncoding('utf8')],
    ['a Fetch stream of text', () => webStream(BODY)],
    ['a Fetch stream of objects', () => webStream({ id: 'evt_1' })],
    ['a Fetch stream of null', () => webStream(null)],
  ];

  it.each([
    ...parsed.map(([name, body]) => ['body_already_parsed', name, () => body] as const),
    ...read.map(([name, make]) => ['body_already_read', name, make] as const),
  ])('the observer gets %s with the fix of the framework for %s', async (code, _, make) => {
    const rawBodyFix = 'Mount it above the parser.';
    const { receiver, find } = aReceiver();
    const response = await receiver({ ...streamed(await make()), rawBodyFix });
    expect(inShort(response)).toBe(`500 ${code}`);
    expect(find('failed').error.hint).toBe(rawBodyFix);
    expect(response.body).not.toContain(rawBodyFix);
  });
});

describe("the receiver's option maxBodyBytes", () => {
  it.each<[string, () => unknown]>([
    ['a stream', () => chunksOf(BYTES, 16)],
    ['bytes', () => BYTES],
    ['text', () => BODY],
  ])('a body of exactly that size is accepted and one byte more is refused, as %s', async (_, body) => {
    expect(BODY.length).toBeLessThan(BYTES.length); // bytes are counted, not characters
    expect(await answerTo(streamed(body()), { maxBodyBytes: BYTES.length })).toBe('200 handled');
    expect(await answerTo(streamed(body()), { maxBodyBytes: BYTES.length - 1 })).toBe('413 body_too_large');
  });

  it('the observer gets an error that names the limit', async () => {
    const { receiver, find } = aReceiver({ maxBodyBytes: 10 });
    await receiver(streamed(BODY));
    expect(find('rejected').error.message).toContain('larger than maxBodyBytes (10 bytes)');
  });

  it('the default limit is 5 MiB, whatever length was declared', async () => {
    const headers = { 'content-length': '10' };
    const body = bodyOf({ data: { pad: '' } });
    const atCap = body.replace('"pad":""', `"pad":"${'x'.repeat(5 * MIB - body.length)}"`);
    expect(await answerTo(aRequest({ body: atCap, headers }))).toBe('200 handled');
    expect(await answerTo(aRequest({ body: `${atCap} `, headers }))).toBe('413 body_too_large');
  });

  it('an endless body is refused at the limit', async () => {
    let made = 0;
    async function* endless() {
      for (;;) {
        made += 1;
        yield new Uint8Array(64 * 1024);
      }
    }
    expect(await answerTo(streamed(endless()), { maxBodyBytes: MIB })).toBe('413 body_too_large');
    // The limit, and what is drained behind it.
    await vi.waitFor(() => expect(made).toBeLessThanOrEqual(16 + 1 + 16 + 1), PATIENTLY);
  });
});

describe('a body that ends in an error, or whose sender leaves the receiver', () => {
  const destroyed = (thrown?: Error) => {
    const stream = new Readable({ read() {}, emitClose: thrown === undefined });
    stream.push(BEGINNING);
    setImmediate(() => stream.destroy(thrown));
    return stream;
  };

  it.each<[string, () => unknown]>([
    ['an error', () => broken(new Error('socket hang up'))],
    ['undefined', () => broken(undefined)],
    ['null', () => broken(null)],
    ['a frozen error', () => broken(Object.freeze(new Error('gone')))],
    ['text', () => broken('gone')],
    ['a Fetch stream without a reason', () => new ReadableStream({ start: (controller) => controller.error() })],
    ["the end of Node's stream", () => destroyed()],
    ["an error of Node's stream", () => destroyed(new Error('socket hang up'))],
    ["Node's stream that had ended before", () => new Readable({ read() {} }).destroy()],
    ['an iterator that cannot be opened', () => unopenable],
  ])('the answer to a body that ends with %s is 400 body_incomplete, and retryable', async (_, body) => {
    const { receiver, find } = aReceiver();
    expect(inShort(await receiver(streamed(body())))).toBe('400 body_incomplete');
    expect(find('rejected').error.retryable).toBe(true);
  });

  it('the answer is 400 body_incomplete where the sender leaves before or while the body is read', async () => {
    expect(await answerTo({ ...streamed(aSource().body), signal: AbortSignal.abort() })).toBe('400 body_incomplete');
    const controller = new AbortController();
    const answer = answerTo({ ...streamed(aSource().body), signal: controller.signal });
    controller.abort();
    expect(await answer).toBe('400 body_incomplete');
  });
});

describe('the time that a receiver waits for a body', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('a body of which no byte arrives is refused after 10 s', async () => {
    const source = aSource();
    const answered = vi.fn();
    answerTo(streamed(source.body)).then(answered);
    source.push(BEGINNING);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(answered).toHaveBeenCalledWith('408 body_timeout');
  });

  it('a body that arrives byte by byte is refused after the same 10 s', async () => {
    const source = aSource();
    const answer = answerTo(streamed(source.body));
    for (let i = 0; i < 11; i++) {
      source.push(BYTES.subarray(i, i + 1));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(await answer).toBe('408 body_timeout');
  });

  it('a body is refused at the deadline where that is before the 10 s', async () => {
    const answer = answerTo(streamed(aSource().body), { deadlineMs: 3_000 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await answer).toBe('408 body_timeout');
  });

  it.each<[string, () => unknown, string]>([
    ['was read', () => chunksOf(BYTES, 9), '200 handled'],
    ['broke off', () => broken(new Error('socket hang up')), '400 body_incomplete'],
    ['was text', () => webStream('text'), '500 body_already_read'],
    ['was too large', () => webStream(BYTES, BYTES), '413 body_too_large'],
  ])('no timer and no listener is left by a body that %s', async (_, body, expected) => {
    const { signal } = new AbortController();
    const options = { maxBodyBytes: BYTES.length, dedupe: false } as const;
    expect(await answerTo({ ...streamed(body()), signal }, options)).toBe(expected);
    await vi.advanceTimersByTimeAsync(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('an adapter that passes a wrong signal is answered with 500, and no timer is left', async () => {
    const signal = { aborted: false } as AbortSignal;
    const answer = await answerTo({ ...streamed(chunksOf(BYTES, 9)), signal }, { dedupe: false });
    expect(answer).toBe('500 handler_failed');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the rest of a body that a receiver has refused', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  const refuse = async (body: unknown) => expect(await answerTo(unsigned(body))).toBe('401 missing_signature');

  it('the receiver reads it to its end, so that the sender gets the answer', async () => {
    const source = aSource();
    await refuse(source.body);
    source.push(new Uint8Array(1000));
    source.push(new Uint8Array(24));
    source.end();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(source).toMatchObject({ taken: 1024, cutOff: false });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the receiver reads 1 MiB and closes the connection after 2 s', async () => {
    const source = aSource();
    await refuse(source.body);
    for (let i = 0; i < 40; i++) source.push(new Uint8Array(64 * 1024));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(source).toMatchObject({ taken: 17 * 64 * 1024, cutOff: false });
    await vi.advanceTimersByTimeAsync(1);
    expect(source).toMatchObject({ taken: 17 * 64 * 1024, cutOff: true });
  });

  it('a body over the limit is drained from where the reader stopped', async () => {
    const source = aSource();
    const answer = answerTo(streamed(source.body), { maxBodyBytes: 10 });
    source.push(new Uint8Array(11));
    expect(await answer).toBe('413 body_too_large');
    source.push(new Uint8Array(500));
    source.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(source).toMatchObject({ taken: 511, cutOff: false });
  });

  it('a body that was read to its end before the refusal is not read again', async () => {
    const next = vi.fn().mockResolvedValueOnce({ value: BYTES }).mockResolvedValue({ done: true });
    expect(await answerTo(streamed(iterableOf({ next })), { secret: 'another' })).toBe('401 signature_mismatch');
    expect(next).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<[string, () => unknown]>([
    ['a stream that breaks', () => broken(undefined)],
    ['an iterator that cannot be opened', () => unopenable],
    ['a stream of what is no bytes', () => webStream('text', 7, null, {}, BYTES)],
    ['null', () => null],
    ['undefined', () => undefined],
    ['text', () => 'text'],
    ['an object', () => ({})],
    ['an iterator whose end throws', () => iterableOf({ next: never, return: throwing })],
    ['an iterator whose end rejects', () => iterableOf({ next: never, return: () => Promise.reject(new Error('no')) })],
    ['an iterator whose end returns no promise', () => iterableOf({ next: never, return: () => ({ done: true }) })],
    ['an iterator whose end returns nothing', () => iterableOf({ next: never, return: () => undefined })],
  ])('no unhandled error follows from %s', async (_, body) => {
    await refuse(body());
    await vi.advanceTimersByTimeAsync(3_000);
  });

  it('chunks without a length are read for no more than 2 s', async () => {
    const next = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 100, { done: false, value: {} })));
    await refuse(iterableOf({ next }));
    await vi.advanceTimersByTimeAsync(3_000);
    const { length } = next.mock.calls;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(next).toHaveBeenCalledTimes(length);
  });

  it("Node's stream is destroyed after 2 s of silence", async () => {
    const stream = new Readable({ read() {} });
    await refuse(stream);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(stream.destroyed).toBe(true);
  });

  it("Node's stream that has arrived completely is not destroyed, since its connection may go on", async () => {
    const stream = Object.assign(new Readable({ read() {} }), { complete: true });
    await refuse(stream);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(stream.destroyed).toBe(false);
  });

  it("Node's stream that had ended before leaves no timer", async () => {
    await refuse(new Readable({ read() {} }).destroy());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a Fetch stream is cancelled after 2 s of silence', async () => {
    const cancel = vi.fn();
    await refuse(new ReadableStream({ cancel }));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('a stream that other code is reading is not drained, and that code gets every chunk', async () => {
    const stream = new Readable({ read() {} });
    const theirs = stream[Symbol.asyncIterator]();
    stream.push(BEGINNING);
    await theirs.next();
    expect(await answerTo(streamed(stream))).toBe('500 body_already_read');
    const next = vi.fn();
    theirs.next().then(next);
    stream.push(BYTES.subarray(10));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(next).toHaveBeenCalledWith({ done: false, value: Buffer.from(BYTES.subarray(10)) });
    expect(stream.destroyed).toBe(false);
  });
});
