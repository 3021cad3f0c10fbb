import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ResponseEnd } from 'service-webhooks';
import { isSuccess } from './answer-by-route.js';

/** What is known of a response, whichever code sends it. */
export interface WatchedResponse {
  /** Resolves when the response is over; with an error where it was a refusal. */
  over: Promise<{ ended: ResponseEnd; error?: Error }>;
  /** Returns whether the response is a refusal, or has broken off, by now. */
  isLost(): boolean;
}

/** The parts of a response of HTTP/2 that one of HTTP/1 does not have. */
interface Http2Parts {
  stream?: { closed: boolean; writableFinished: boolean } | undefined;
}

/** Called with the end of a response: whether it was sent whole. */
export type OnResponseEnd = (wasSent: boolean) => void;

/** Watches a response from now on. `watchMore` reports an end that the response itself does not report. */
export function watchResponse(
  res: ServerResponse & Http2Parts,
  watchMore?: (onEnd: OnResponseEnd) => void,
): WatchedResponse {
  const sentStatus = watchStatus(res);
  addClosed(res);
  let isBroken = false;
  const over: WatchedResponse['over'] = new Promise((resolve) => {
    let stopWaiting: (() => void) | undefined;
    const end = (wasSent: boolean) => {
      stopWaiting?.();
      res.off('finish', atFinish).off('close', atClose);
      isBroken = !wasSent;
      const status = sentStatus() ?? (wasSent ? res.statusCode : undefined);
      if (status === undefined || isSuccess(status)) resolve({ ended: wasSent ? 'ok' : 'unknown' });
      else resolve({ ended: 'failed', error: new Error(`the route answered ${status}`) });
    };
    const atFinish = () => end(isWhole(res));
    const atClose = () => end(isFinished(res) && isWhole(res)); // imitations of a response close before they finish
    if (isFinished(res)) return end(true);
    if (isClosed(res)) return end(false);
    res.on('finish', atFinish).on('close', atClose);
    watchMore?.(end);
    // A pipelined response has no socket yet, and emits no `close` when its connection closes.
    const socket = res.req?.socket;
    if (!res.socket && typeof socket?.once === 'function') stopWaiting = onceClosed(socket, atClose);
  });
  const isRefused = () => {
    const status = sentStatus();
    return status !== undefined && !isSuccess(status);
  };
  return { over, isLost: () => isBroken || isRefused() };
}

/** Returns a function that returns the status that was sent. The app may change `res.statusCode` after that. */
function watchStatus(res: ServerResponse): () => number | undefined {
  let sent = res.headersSent ? res.statusCode : undefined;
  const { writeHead } = res; // Node calls it too, where the app does not
  res.writeHead = (...head: unknown[]) => {
    Reflect.apply(writeHead, res, head);
    sent ??= res.statusCode;
    return res;
  };
  return () => sent;
}

/** Adds `closed`, without which Node's `finished` never ends for a closed stream of HTTP/2. Fastify waits for it. */
function addClosed(res: ServerResponse & Http2Parts): void {
  const { stream } = res;
  if (stream && !('closed' in res)) Object.defineProperty(res, 'closed', { get: () => stream.closed });
}

function isFinished({ stream, writableEnded, writableFinished }: ServerResponse & Http2Parts): boolean {
  return stream ? writableEnded && stream.writableFinished : writableFinished;
}

function isClosed({ closed, stream, req }: ServerResponse & Http2Parts): boolean {
  return closed || stream?.closed || req?.socket?.destroyed || false;
}

/**
 * Node emits `finish` also where a connection of HTTP/1 has broken off, and in HTTP/2 for each response that is over. The
 * servers of Lambda emit it before `writableEnded` is true.
 */
function isWhole({ stream, req, writableEnded }: ServerResponse & Http2Parts): boolean {
  if (stream) return writableEnded && stream.writableFinished;
  return !req?.socket?.destroyed && !req?.socket?.errored;
}

const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls a function when a connection closes. A connection has one listener for all of its responses, because Node warns
 * of a leak where many listen to one.
 */
function onceClosed(socket: Socket, call: () => void): () => void {
  let calls = waiting.get(socket);
  if (calls === undefined) {
    const all = new Set<() => void>();
    socket.once('close', () => {
      for (const one of all) one();
    });
    waiting.set(socket, all);
    calls = all;
  }
  calls.add(call);
  return () => calls.delete(call);
}
