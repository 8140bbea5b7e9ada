import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Root of the project: this file runs as bench/dist/bench/processes.js. */
export const root = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');

const children = new Set<ChildProcess>();
const directories: string[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

/** A directory that is deleted when the bench ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  directories.push(directory);
  return directory;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Program {
  pid: number;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

interface Launch {
  /** The program; by default node. */
  command?: string;
  /** Its arguments. For node: options, then the program below the project's root. */
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Whether it is ready; called until it is. */
  ready: () => Promise<boolean>;
}

/** Starts a program and waits until it is ready. @throws if it ends first, or is not ready in 30 s */
export async function launch({
  command = process.execPath,
  args,
  env = {},
  ready,
}: Launch): Promise<Program> {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    // Standard input stays open while the bench runs. The programs' output goes to the bench's standard error.
    stdio: ['pipe', process.stderr, process.stderr],
  });
  children.add(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => children.delete(child));
  const deadline = Date.now() + 30_000;
  while (!(await ready())) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${command} ${args.join(' ')} did not start`);
    }
    await pause(50);
  }
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;

/** The fields of a process after its name, which may contain spaces. @throws if there is no such process */
const fieldsOf = (pid: number | string): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];

/** The positions of the parent's id; of user and system time; and of those of children that have ended. */
const parentAt = 1;
const ownTimes = [11, 12];
const endedTimes = [13, 14];

const secondsIn = (fields: readonly string[], positions: readonly number[]): number =>
  positions.reduce((sum, position) => sum + Number(fields[position]), 0) / ticksPerSecond;

/** Seconds of processor time of these processes; NaN if the system does not report it. */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + secondsIn(fieldsOf(pid), ownTimes);
    } catch {
      return Number.NaN;
    }
  }, 0);
}

/** Seconds of processor time of a process and all its children, as of PostgreSQL's; NaN if the system does not report it. */
export function cpuSecondsOfTree(pid: number): number {
  try {
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          const fields = fieldsOf(name);
          return fields[parentAt] === String(pid) ? secondsIn(fields, ownTimes) : [];
        } catch {
          return []; // It has just ended.
        }
      });
    const own = secondsIn(fieldsOf(pid), [...ownTimes, ...endedTimes]);
    return children.reduce((sum, each) => sum + each, own);
  } catch {
    return Number.NaN;
  }
}
