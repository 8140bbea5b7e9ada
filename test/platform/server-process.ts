import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTRPCClient, httpLink } from '@trpc/client';
import { expect, onTestFinished } from 'vitest';
import type { AdminRouter } from '../../server/operations/admin-router.ts';
import { freePort } from '../harness/free-port.ts';
import { adminToken } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';

const program = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));

/** Runs the built server with only these variables, also for starts that must fail. */
export function spawnServer(env: Record<string, string>): { child: ChildProcess; output: () => string } {
  const path = { PATH: process.env['PATH'] ?? '' };
  const child = spawn(process.execPath, [program], { env: { ...path, ...env }, stdio: 'pipe' });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: () => Buffer.concat(chunks).toString() };
}

/** The exit code of a process, or the signal that ended it. */
export async function endOf(child: ChildProcess): Promise<number | string | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? child.signalCode;
}

/** The service as a separate process with the embedded engine, which can be killed and started again. */
export async function createServerProcess(env: Record<string, string> = {}) {
  const dataDir = temporaryFolder('process');
  const [port, adminPort] = [await freePort(), await freePort()];
  const baseUrl = `http://localhost:${port}`;
  const outputs: (() => string)[] = [];
  let child: ChildProcess | undefined;

  async function ready(): Promise<void> {
    const status = async () => (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.status;
    await expect.poll(status, { timeout: within(20_000), interval: 50 }).toBe(200);
  }

  return {
    baseUrl,
    dataDir,
    admin: createTRPCClient<AdminRouter>({
      links: [
        httpLink({
          url: `http://127.0.0.1:${adminPort}/trpc`,
          headers: { authorization: `Bearer ${adminToken}` },
        }),
      ],
    }),
    /** The address of its database while it runs. */
    databaseUri: () => readFileSync(join(dataDir, 'mongodb-uri'), 'utf8').trim(),
    /** The process id of its database, which the engine writes into its lock file. */
    databasePid: () => Number(readFileSync(join(dataDir, 'db', 'mongod.lock'), 'utf8')),
    /** Resolves when it can serve. */
    ready,
    /** All its output, including earlier starts. */
    output: () => outputs.map((read) => read()).join(''),

    async start(): Promise<void> {
      const started = spawnServer({
        SVC_PORT: String(port),
        SVC_ADMIN_PORT: String(adminPort),
        SVC_DATA_DIR: dataDir,
        SVC_ADMIN_TOKEN: adminToken,
        SVC_LOG_LEVEL: 'warn',
        SVC_DEMO_PORT: 'off',
        ...env,
      });
      child = started.child;
      outputs.push(started.output);
      await ready();
    },

    /** @returns its exit code, or the signal's name */
    async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
      if (!child) throw new Error('not started');
      child.kill(signal);
      return endOf(child);
    },
  };
}
export type ServerProcess = Awaited<ReturnType<typeof createServerProcess>>;
