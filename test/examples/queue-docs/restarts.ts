import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ROOT } from '../../support/markdown.js';
import { PATIENTLY } from '../../support/patiently.js';
import { aDelivery, SECRET } from '../queues/event.js';
import { type Gate, startGate } from '../queues/gate.js';
import { compileSources } from '../sources.js';
import { type HeldHandlers, holdHandlers } from './handlers.js';
import { holdLastStatement, type LastStatement } from './last-statement.js';
import { blocksOf, type Program, startProgram } from './program.js';

/** A section of docs/queues.md, and the server that its programs use. */
export interface Setup {
  section: string;
  /** The variable from which the programs read the address of the server. */
  variable: string;
  server: { url: string; crash(): Promise<void> };
  /** The number of jobs that are not finished. Left out where a crash of the server may undo the end of a job. */
  depth?(): Promise<number>;
  /** The statement by which an engine on PostgreSQL itself records the end of a job. */
  last?: LastStatement;
  /** Does what the engine does only after hours: it gives the jobs of lost workers to others. */
  reclaim?(): Promise<unknown>;
}

/** Runs the programs of a section as they are written, while their server is ended and started again. */
export function describePrograms({ section, variable, server, depth, last, reclaim }: Setup): void {
  describe(`the programs of "${section}" in docs/queues.md`, () => {
    const [receiverCode = '', workerCode] = blocksOf(section);
    let folder: string;
    let sources: ReturnType<typeof compileSources>;
    let handlers: HeldHandlers;
    let gate: Gate;
    let receiver: Program;
    let worker: Program;

    function start(code: string): Program {
      const env = { SOURCES: sources.folder, WEBHOOK_SECRET: SECRET, HANDLERS: handlers.url, [variable]: gate.url };
      return startProgram(code, { folder, env });
    }

    function startWorker(): void {
      worker = start(workerCode ?? receiverCode);
      if (workerCode === undefined) receiver = worker; // one program is both
    }

    beforeAll(async () => {
      mkdirSync(join(ROOT, '.tmp'), { recursive: true });
      folder = mkdtempSync(join(ROOT, '.tmp', 'queue-docs-')); // where Node finds the packages of the repository
      sources = compileSources();
      handlers = await holdHandlers();
      gate = await startGate(server.url, 0);
      if (workerCode !== undefined) receiver = start(receiverCode);
      startWorker();
    });
    afterAll(async () => {
      for (const program of [receiver, worker]) program.kill();
      await gate.close();
      handlers.stop();
      sources.remove();
      rmSync(folder, { recursive: true });
    });

    async function deliver(id: string): Promise<number> {
      const port = await vi.waitUntil(receiver.port, PATIENTLY);
      const [body, headers] = aDelivery(id);
      const response = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', headers, body });
      await response.text();
      return response.status;
    }

    async function deliverAndStart(id: string): Promise<void> {
      await vi.waitFor(async () => expect(await deliver(id)).toBe(202), PATIENTLY);
      await vi.waitUntil(() => handlers.runs(id) > 0, PATIENTLY);
    }

    const expectEmpty = () => vi.waitFor(async () => expect(await depth?.()).toBe(0), PATIENTLY);

    /** Where the end of a job outlives a crash of the server, the job has run once, and none is left. */
    async function expectSettled(id: string): Promise<void> {
      if (depth === undefined) return;
      await expectEmpty();
      expect(handlers.runs(id)).toBe(1);
    }

    async function deliverAndFinish(id: string): Promise<void> {
      await deliverAndStart(id);
      handlers.finish(id);
      await expectSettled(id);
    }

    /** No process has ended since its start. */
    const expectAlive = () =>
      expect([receiver, worker].map((program) => program.exited())).toEqual([undefined, undefined]);

    it('the receiver accepts a delivery and the worker handles it', () => deliverAndFinish('evt_first'));

    it('receiver and worker keep running when their server is killed while they are idle', async () => {
      await server.crash();
      await deliverAndFinish('evt_idle');
      expectAlive();
    });

    it('receiver and worker keep running when their server is killed while a handler runs', async () => {
      await deliverAndStart('evt_restart');
      await server.crash();
      handlers.finish('evt_restart');
      await deliverAndFinish('evt_after_restart');
      await expectSettled('evt_restart');
      expectAlive();
    });

    if (depth) {
      it('the end of a handler is recorded although the server was down', async () => {
        await deliverAndStart('evt_away');
        const restarted = server.crash();
        await gate.close();
        handlers.finish('evt_away');
        handlers.finish('evt_refused'); // the client of the engine may still send it later
        expect(await deliver('evt_refused')).toBe(503);
        await restarted;
        await gate.open();
        await deliverAndFinish('evt_after_away');
        await expectSettled('evt_away');
        expectAlive();
      });
    }

    if (last) {
      it('receiver and worker keep running after PostgreSQL is killed in the last statement of a job', async () => {
        const statement = await holdLastStatement(server.url, last);
        await deliverAndStart('evt_end');
        handlers.finish('evt_end');
        await statement.isSent();
        await server.crash();
        await statement.release();
        await deliverAndStart('evt_after_end');
        handlers.finish('evt_after_end');
        await reclaim?.();
        await expectEmpty();
        expectAlive();
      });
    }

    it('a worker ends at SIGTERM after its handler, and the job does not run again', async () => {
      await deliverAndStart('evt_last');
      const ended = worker.terminate();
      await vi.waitUntil(() => worker.lines.includes('SIGTERM'), PATIENTLY);
      handlers.finish('evt_last');
      expect(await ended).toBe(0);
      await expectSettled('evt_last');
      startWorker();
      await deliverAndFinish('evt_next');
      expect(handlers.runs('evt_last')).toBe(1);
    });
  });
}
