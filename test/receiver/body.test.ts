import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WebhookRequest } from 'service-webhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStreamedRequest, bodyOf, inShort, later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';

const BODY = bodyOf({ data: { title: 'Grüße 🎧' } });
const BYTES = new TextEncoder().encode(BODY);
const MIB = 1024 * 1024;

type Options = Parameters<typeof aReceiver>[0];

const receive = (request: WebhookRequest, options?: Options) => aReceiver(options).receiver(request);
const answerTo = async (request: WebhookRequest, options?: Options) => inShort(await receive(request, options));

/** A good delivery whose body is this. */
const streamed = (body: unknown) => aStreamedRequest(body as AsyncIterable<Uint8Array>, { body: BODY });

async function* chunksOf(bytes: Uint8Array, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

const webStream = (...chunks: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

/** A body of which chunks come when a test says so; it knows how much was taken and whether it was cut off. */
function aSource() {
  const queue: IteratorResult<Uint8Array>[] = [];
  let wake = () => {};
  const source = {
    taken: 0,
    cutOff: false,
    push: (chunk: Uint8Array) => {
      queue.push({ done: false, value: chunk });
      wake();
    },
    end: () => {
      queue.push({ done: true, value: undefined });
      wake();
    },
    body: {
      [Symbol.asyncIterator]: (): AsyncIterator<Uint8Array> => ({
        async next() {
          while (queue.length === 0) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          const result = queue.shift() as IteratorResult<Uint8Array>;
          if (!result.done) source.taken += result.value.length;
          return result;
        },
        async return() {
          source.cutOff = true;
          source.end();
          return { done: true, value: undefined };
        },
      }),
    },
  };
  return source;
}

describe('the body of a request', () => {
  it('the body of a request is the same however it is split into chunks, also within a character', async () => {
    for (let size = 1; size <= BYTES.length; size++) {
      expect(await answerTo(streamed(chunksOf(BYTES, size)))).toBe('200 handled');
    }
  });

  it.each<[string, () => unknown]>([
    ["Node's stream", () => Readable.from([Buffer.from(BODY)], { objectMode: false })],
    ['a Fetch stream', () => webStream(BYTES.subarray(0, 10), BYTES.subarray(10))],
    ['text', () => BODY],
    ['bytes', () => BYTES],
    ['a Buffer', () => Buffer.from(BODY)],
    ['an ArrayBuffer', () => BYTES.buffer],
    ['a DataView', () => new DataView(BYTES.buffer)],
    ['chunks of which some are empty', () => webStream(new Uint8Array(0), BYTES, new Uint8Array(0))],
  ])('the body of a request may be %s', async (_, body) => {
    const { receiver, find } = aReceiver();
    expect(inShort(await receiver(streamed(body())))).toBe('200 handled');
    expect(Buffer.from(find('handled').delivery.body).toString()).toBe(BODY);
  });

  it('the body of a request that is empty, null or no chunk at all has no signature but its own', async () => {
    const empty = { ...aRequest({ body: '' }) };
    for (const body of ['', null, new Uint8Array(0), webStream(), webStream(new Uint8Array(0))]) {
      expect(await answerTo({ ...empty, body: body as null })).toBe('400 invalid_json');
      expect(await answerTo(streamed(body))).not.toBe('200 handled');
    }
  });

  it('the body of a request reaches the handler byte for byte', async () => {
    const { receiver, find } = aReceiver();
    await receiver(streamed(chunksOf(BYTES, 7)));
    expect(find('handled').delivery.body).toEqual(BYTES);
  });

  it('the body of a request that came in one chunk is a copy, which later changes of the chunk do not reach', async () => {
    const { receiver, find } = aReceiver();
    const chunk = BYTES.slice();
    await receiver(streamed(webStream(chunk)));
    chunk.fill(0);
    expect(find('handled').delivery.body).toEqual(BYTES);
  });
});

describe('a body in chunks of one byte', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');

  /** Counts the chunks that are still alive when the last one is read. */
  const aliveAtTheEnd = async (toBody: (chunks: AsyncIterable<Uint8Array>) => unknown) => {
    const CHUNKS = 20_000;
    const body = bodyOf({ data: { pad: 'x'.repeat(CHUNKS) } });
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
    const answer = await answerTo(aStreamedRequest(toBody(chunks()) as AsyncIterable<Uint8Array>, { body }));
    return { answer, alive, chunks: refs.length };
  };

  it.each<[string, (chunks: AsyncIterable<Uint8Array>) => unknown]>([
    ['an async iterable', (chunks) => chunks],
    ['a Node stream', (chunks) => Readable.from(chunks, { objectMode: false })],
    ['a Fetch stream', (chunks) => ReadableStream.from(chunks)],
  ])('a body in chunks of one byte is collected into one block, so that no chunk is kept: %s', async (_, toBody) => {
    const { answer, alive, chunks } = await aliveAtTheEnd(toBody);
    expect(answer).toBe('200 handled');
    expect(chunks).toBeGreaterThan(20_000);
    expect(alive).toBeLessThan(2_000);
  });
});

describe('a body that other code has touched', () => {
  const fix = 'Mount it above the parser.';
  const failureOf = async (body: unknown) => {
    const { receiver, find } = aReceiver();
    const response = await receiver({ ...streamed(body), rawBodyFix: fix });
    expect(find('failed').error.hint).toBe(fix);
    expect(response.body).not.toContain(fix);
    return inShort(response);
  };

  it.each<[string, unknown]>([
    ['an object', { id: 'evt_1' }],
    ['an empty object', {}],
    ['an array', []],
    ['a number', 7],
    ['false', false],
    ['a function', () => BODY],
    ['URLSearchParams', new URLSearchParams('id=evt_1')],
  ])('and left as %s was parsed already, and the fix of the framework is told', async (_, body) => {
    expect(await failureOf(body)).toBe('500 body_already_parsed');
  });

  it('and of which nothing is left was read already', async () => {
    expect(await failureOf(undefined)).toBe('500 body_already_read');
  });

  it('and which is a Fetch stream that is locked or read was read already', async () => {
    const locked = webStream(BYTES);
    locked.getReader();
    expect(await failureOf(locked)).toBe('500 body_already_read');
    const request = new Request('http://receiver.example/', { method: 'POST', body: BODY });
    await request.text();
    expect(await failureOf(request.body)).toBe('500 body_already_read');
  });

  it("and which is Node's stream that was read from was read already, also in part", async () => {
    const all = Readable.from([BYTES]);
    await all.toArray();
    expect(await failureOf(all)).toBe('500 body_already_read');
    const some = Readable.from([BYTES.subarray(0, 5), BYTES.subarray(5)]);
    await some[Symbol.asyncIterator]().next();
    expect(await failureOf(some)).toBe('500 body_already_read');
  });

  it('and which comes as text was decoded already', async () => {
    expect(await failureOf(Readable.from([BYTES], { objectMode: false }).setEncoding('utf8'))).toBe(
      '500 body_already_read',
    );
    expect(await failureOf(webStream(BODY))).toBe('500 body_already_read');
    expect(await failureOf(webStream({ id: 'evt_1' }))).toBe('500 body_already_read');
    expect(await failureOf(webStream(null))).toBe('500 body_already_read');
  });
});

describe('the cap', () => {
  const cap = BYTES.length;

  it.each<[string, () => unknown]>([
    ['a stream', () => chunksOf(BYTES, 16)],
    ['bytes', () => BYTES],
    ['text', () => BODY],
  ])('the cap lets a body of exactly that size through and refuses one byte more, as %s', async (_, body) => {
    expect(await answerTo(streamed(body()), { maxBodyBytes: cap })).toBe('200 handled');
    expect(await answerTo(streamed(body()), { maxBodyBytes: cap - 1 })).toBe('413 body_too_large');
  });

  it('the cap is named to the operator', async () => {
    const { receiver, find } = aReceiver({ maxBodyBytes: 10 });
    await receiver(streamed(BODY));
    expect(find('rejected').error.message).toContain('larger than maxBodyBytes (10 bytes)');
  });

  it('the cap counts bytes, not characters', async () => {
    expect(BODY.length).toBeLessThan(cap);
    expect(await answerTo(streamed(BODY), { maxBodyBytes: BODY.length })).toBe('413 body_too_large');
  });

  it('the cap is 5 MiB unless set, whatever length was declared', async () => {
    const body = bodyOf({ data: { pad: '' } });
    const atCap = body.replace('"pad":""', `"pad":"${'x'.repeat(5 * MIB - body.length)}"`);
    expect(await answerTo(aRequest({ body: atCap, headers: { 'content-length': '10' } }))).toBe('200 handled');
    expect(await answerTo(aRequest({ body: `${atCap} `, headers: { 'content-length': '10' } }))).toBe(
      '413 body_too_large',
    );
  });

  it('the cap ends an endless body first', async () => {
    let made = 0;
    async function* endless() {
      for (;;) {
        made += 1;
        yield new Uint8Array(64 * 1024);
      }
    }
    expect(await answerTo(streamed(endless()), { maxBodyBytes: MIB })).toBe('413 body_too_large');
    await vi.waitFor(() => expect(made).toBeLessThanOrEqual(16 + 1 + 16 + 1), PATIENTLY); // the cap, and what is drained behind it
  });
});

describe('a body that does not come whole', () => {
  it('since its stream breaks is incomplete, and the sender may come again', async () => {
    async function* broken() {
      yield BYTES.subarray(0, 10);
      throw new Error('socket hang up');
    }
    const { receiver, find } = aReceiver();
    expect(inShort(await receiver(streamed(broken())))).toBe('400 body_incomplete');
    expect(find('rejected').error.retryable).toBe(true);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a frozen error', Object.freeze(new Error('gone'))],
    ['text', 'gone'],
  ])('since its stream throws %s is incomplete', async (_, thrown) => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield BYTES.subarray(0, 10);
      throw thrown;
    }
    expect(await answerTo(streamed(broken()))).toBe('400 body_incomplete');
  });

  it('since a Fetch stream fails for no reason given is incomplete', async () => {
    const stream = new ReadableStream({
      start(controller) {
        controller.error();
      },
    });
    expect(await answerTo(streamed(stream))).toBe('400 body_incomplete');
  });

  it('since Node destroyed its stream is incomplete', async () => {
    const stream = new Readable({ read() {} });
    stream.push(BYTES.subarray(0, 10));
    const answer = answerTo(streamed(stream));
    stream.destroy();
    expect(await answer).toBe('400 body_incomplete');
  });

  it('since a stream cannot even be opened is incomplete', async () => {
    const body = {
      [Symbol.asyncIterator]() {
        throw new Error('no reader for you');
      },
    };
    expect(await answerTo(streamed(body))).toBe('400 body_incomplete');
  });

  it('since the sender left is incomplete, before or while it is read', async () => {
    const gone = AbortSignal.abort();
    expect(await answerTo({ ...streamed(aSource().body), signal: gone })).toBe('400 body_incomplete');
    const controller = new AbortController();
    const answer = answerTo({ ...streamed(aSource().body), signal: controller.signal });
    controller.abort();
    expect(await answer).toBe('400 body_incomplete');
  });

  it('and ends early has another signature', async () => {
    expect(await answerTo(streamed(webStream(BYTES.subarray(0, -1))))).toBe('401 signature_mismatch');
  });

  it('a sender may leave once its body is whole', async () => {
    const controller = new AbortController();
    const on = { '*': () => controller.abort() };
    expect(await answerTo({ ...streamed(chunksOf(BYTES, 9)), signal: controller.signal }, { on })).toBe('200 handled');
  });
});

describe('in time', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('a body that stops coming is given up after 10 s', async () => {
    const source = aSource();
    const answer = later<string>();
    answerTo(streamed(source.body)).then(answer.resolve);
    source.push(BYTES.subarray(0, 10));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(await Promise.race([answer.promise, 'waiting'])).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer.promise).toBe('408 body_timeout');
  });

  it('a body that trickles does not gain time by it', async () => {
    const source = aSource();
    const answer = answerTo(streamed(source.body));
    for (let i = 0; i < 11; i++) {
      source.push(BYTES.subarray(i, i + 1));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(await answer).toBe('408 body_timeout');
  });

  it('a body is given up at the deadline, where that is sooner', async () => {
    const answer = answerTo(streamed(aSource().body), { deadlineMs: 3_000 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await answer).toBe('408 body_timeout');
  });

  it('a body that is read in time leaves no timer behind', async () => {
    expect(await answerTo(streamed(chunksOf(BYTES, 9)), { dedupe: false })).toBe('200 handled');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a body that is refused leaves no timer behind either, and nobody who waits for its sender to go', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield BYTES.subarray(0, 10);
      throw new Error('socket hang up');
    }
    const { signal } = new AbortController();
    for (const body of [broken(), webStream('text'), webStream(BYTES, BYTES), chunksOf(BYTES, 9)]) {
      await answerTo({ ...streamed(body), signal }, { maxBodyBytes: BYTES.length, dedupe: false });
      await vi.advanceTimersByTimeAsync(0);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it('a signal that is none is an error of the adapter, and leaves no timer that would meet it later', async () => {
    const signal = { aborted: false } as AbortSignal;
    const answer = await answerTo({ ...streamed(chunksOf(BYTES, 9)), signal }, { dedupe: false });
    expect(answer).toBe('500 handler_failed');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  describe('what a refusal leaves unread', () => {
    const refusedWith = async (source: ReturnType<typeof aSource>) => {
      expect(await answerTo({ ...streamed(source.body), headers: {} })).toBe('401 missing_signature');
    };
    const settle = () => vi.advanceTimersByTimeAsync(0);

    it('the rest of a refused body is read to its end, so that the sender receives the answer', async () => {
      const source = aSource();
      await refusedWith(source);
      source.push(new Uint8Array(1000));
      source.push(new Uint8Array(24));
      source.end();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(source).toMatchObject({ taken: 1024, cutOff: false });
      expect(vi.getTimerCount()).toBe(0);
    });

    it('the rest of a refused body is read up to 1 MiB, then no further, and is cut off after 2 s', async () => {
      const source = aSource();
      await refusedWith(source);
      for (let i = 0; i < 40; i++) source.push(new Uint8Array(64 * 1024));
      await settle();
      expect(source.taken).toBe(17 * 64 * 1024);
      expect(source.cutOff).toBe(false);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(source).toMatchObject({ taken: 17 * 64 * 1024, cutOff: true });
    });

    it('the rest of a refused body is cut off after 2 s where it does not end', async () => {
      const source = aSource();
      await refusedWith(source);
      await vi.advanceTimersByTimeAsync(1_999);
      expect(source.cutOff).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(source.cutOff).toBe(true);
    });

    it('the rest of a refused body goes on where the reader stopped: what the cap refused is drained as well', async () => {
      const source = aSource();
      const answer = answerTo(streamed(source.body), { maxBodyBytes: 10 });
      source.push(new Uint8Array(11));
      expect(await answer).toBe('413 body_too_large');
      source.push(new Uint8Array(500));
      source.end();
      await settle();
      expect(source).toMatchObject({ taken: 511, cutOff: false });
    });

    it('the rest of a refused body is nothing where the body was read to its end', async () => {
      const next = vi.fn().mockResolvedValueOnce({ value: BYTES }).mockResolvedValue({ done: true });
      const body = { [Symbol.asyncIterator]: () => ({ next }) };
      expect(await answerTo(streamed(body), { secret: 'another' })).toBe('401 signature_mismatch');
      expect(next).toHaveBeenCalledTimes(2);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('the rest of a refused body that broke, or cannot be opened, or is not even bytes, causes no error', async () => {
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(1);
        throw undefined;
      }
      const unopenable = {
        [Symbol.asyncIterator]() {
          throw new Error('no');
        },
      };
      const odd = webStream('text', 7, null, {}, BYTES);
      for (const body of [broken(), unopenable, odd, null, undefined, 'text', {}]) {
        expect(await answerTo({ ...streamed(body), headers: {} })).toBe('401 missing_signature');
        await vi.advanceTimersByTimeAsync(3_000);
      }
    });

    it('the rest of a refused body is bounded also where its chunks have no length, and where it cannot be cut off', async () => {
      let taken = 0;
      const body = {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            taken += 1;
            await new Promise((resolve) => setTimeout(resolve, 100));
            return { done: false, value: {} };
          },
        }),
      };
      expect(await answerTo({ ...streamed(body), headers: {} })).toBe('401 missing_signature');
      await vi.advanceTimersByTimeAsync(3_000);
      const soon = taken;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(taken).toBe(soon);
    });

    it('the rest of a refused body is cut off without harm by an iterator that throws, or answers no promise', async () => {
      const ways = [
        () => {
          throw new Error('return');
        },
        () => ({ done: true }),
        () => Promise.reject(new Error('return')),
        () => undefined,
      ];
      for (const way of ways) {
        const body = { [Symbol.asyncIterator]: () => ({ next: never, return: way }) };
        expect(await answerTo({ ...streamed(body), headers: {} })).toBe('401 missing_signature');
        await vi.advanceTimersByTimeAsync(3_000);
      }
    });

    it("the rest of a refused body that is Node's stream is destroyed after 2 s of silence", async () => {
      const stream = new Readable({ read() {} });
      expect(await answerTo({ ...streamed(stream), headers: {} })).toBe('401 missing_signature');
      await vi.advanceTimersByTimeAsync(2_000);
      expect(stream.destroyed).toBe(true);
    });

    it('the rest of a refused body that is a Fetch stream is cancelled after 2 s of silence', async () => {
      const cancel = vi.fn();
      const stream = new ReadableStream({ cancel });
      expect(await answerTo({ ...streamed(stream), headers: {} })).toBe('401 missing_signature');
      await vi.advanceTimersByTimeAsync(2_000);
      expect(cancel).toHaveBeenCalledOnce();
    });

    it('and that somebody else is reading is left to them', async () => {
      const stream = new Readable({ read() {} });
      const theirs = stream[Symbol.asyncIterator]();
      stream.push(BYTES.subarray(0, 5));
      await theirs.next();
      expect(await answerTo(streamed(stream))).toBe('500 body_already_read');
      const next = vi.fn();
      theirs.next().then(next);
      stream.push(BYTES.subarray(5));
      await vi.advanceTimersByTimeAsync(3_000);
      expect(next).toHaveBeenCalledWith({ done: false, value: Buffer.from(BYTES.subarray(5)) });
      expect(stream.destroyed).toBe(false);
    });
  });
});
