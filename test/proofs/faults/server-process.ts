import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Armed } from './kill-points.ts';
import type { Order, Report } from './orders.ts';

/** The compiled program, because the suite itself may run uncompiled in the test runner. */
const program = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/') ? 'server.js' : '../../../dist/test/proofs/faults/server.js',
    import.meta.url,
  ),
);

/** A server under test, in a separate process. */
export interface ServerProcess {
  /** Starts the server. @throws if the process ends before it is ready */
  start(): Promise<void>;
  /** Resolves when the fault is armed, to a promise that resolves after it has killed the process or another one. */
  arm(fault: Armed): Promise<{ fired: Promise<void> }>;
  /** Runs simultaneous sweeps, and resolves when all have ended. @throws if the process ends first */
  sweep(times?: number): Promise<void>;
  /** Resolves when the process knows which other processes accept postings. @throws if the process ends first */
  refresh(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended, to whether SIGKILL ended it. */
  ended: Promise<boolean>;
  pid: number | undefined;
}

/** Loads a server with this environment, which waits for `start`. */
export function loadServer(env: Record<string, string>): ServerProcess {
  const child: ChildProcess = fork(program, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<Report['report'], (() => void)[]>();
  child.on('message', ({ report }: Report) => {
    for (const resolve of waiting.get(report)?.splice(0) ?? []) resolve();
  });
  const ended = new Promise<boolean>((resolve) => {
    child.once('exit', (_code, signal) => resolve(signal === 'SIGKILL'));
  });
  const next = (report: Report['report']) =>
    new Promise<void>((resolve, reject) => {
      waiting.set(report, [...(waiting.get(report) ?? []), resolve]);
      void ended.then(() => reject(new Error(`the server ended before its report "${report}"`)));
    });
  const loaded = next('loaded');
  loaded.catch(() => undefined);

  async function give(order: Order): Promise<void> {
    await loaded;
    const done = next(order.order);
    // A process that has just ended receives no message, which `done` reports.
    child.send(order, () => undefined);
    await done;
  }

  async function arm(fault: Armed): Promise<{ fired: Promise<void> }> {
    const other = next('fired');
    const itself = ended.then((killed) => {
      if (!killed) throw new Error('the server ended by itself');
    });
    const fired = Promise.any([other, itself]).then(() => undefined);
    fired.catch(() => undefined);
    await give({ order: 'arm', fault });
    return { fired };
  }

  return {
    start: () => give({ order: 'start' }),
    arm,
    sweep: (times = 1) => give({ order: 'sweep', times }),
    refresh: () => give({ order: 'refresh' }),
    signal: (signal) => {
      child.kill(signal);
    },
    ended,
    pid: child.pid,
  };
}
