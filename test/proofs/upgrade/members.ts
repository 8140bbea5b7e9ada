import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../harness/free-port.ts';
import { within } from '../../harness/time-limits.ts';

const longestWait = within(60_000);

export async function until(what: string, holds: () => Promise<boolean> | boolean) {
  for (const deadline = Date.now() + longestWait; !(await holds()); await sleep(100))
    if (Date.now() > deadline) throw new Error(`${what}: not within ${longestWait / 1000} s`);
}

/** A process of one build of the service. */
export interface Member {
  pid: number;
  port: number;
  adminUrl: string;
  /** Returns the output of the process so far. */
  output(): string;
  /** Ends the process. Resolves to its exit code. */
  end(): Promise<number | null>;
}

/** Starts the database of the run: the embedded engine of the present build, as a separate server. */
export async function startDatabase(directory: string) {
  const port = await freePort();
  const engine = join('dist', 'embedded-database', 'engine', 'mongod.js');
  const child = spawn(process.execPath, [engine, '--port', String(port), '--dbpath', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until('the database', () => /waiting for connections/i.test(text));
  return { uri: `mongodb://127.0.0.1:${port}/svc`, end: () => endOf(child) };
}

async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  return child.exitCode;
}

/** Starts the build in `directory`. Resolves when it is ready, or has ended. */
export async function startMember(directory: string, env: Record<string, string>): Promise<Member> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(directory, 'dist', 'server', 'main.js')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      ...env,
      SVC_PORT: String(port),
      SVC_ADMIN_PORT: String(adminPort),
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(`a process of ${directory}`, async () => child.exitCode !== null || (await isReady()));
  return {
    ...{ pid: child.pid ?? 0, port, adminUrl: `http://127.0.0.1:${adminPort}` },
    output: () => text,
    end: () => endOf(child),
  };
}
