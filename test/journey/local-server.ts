import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StatusView } from '../../contracts/admin/status.ts';
import { within } from '../harness/time-limits.ts';
import { SvcadminError, svcadmin } from './svcadmin.ts';

const program = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/') ? '../../server/main.js' : '../../dist/server/main.js',
    import.meta.url,
  ),
);

async function isReady(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

export interface LocalServer {
  /** Whether the server was running before the journey. */
  wasRunning: boolean;
  baseUrl: string;
  /** Environment variables that `svcadmin` needs to find the server, besides those of this process. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

function endProcess(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Finds the running server by `svcadmin`. Returns undefined if `svcadmin` finds none, or if none answers. */
async function findServer(env: NodeJS.ProcessEnv): Promise<LocalServer | undefined> {
  const isAddressGiven = env['SVCADMIN_URL'] || env['SVCADMIN_PROFILE'];
  try {
    const { baseUrl, environment } = await svcadmin<StatusView>(['status'], env);
    if (environment === 'production')
      throw new Error(
        `${baseUrl} is a production server; the journey creates a partner, so it does not run there`,
      );
    return { wasRunning: true, baseUrl, env: {}, stop: async () => undefined };
  } catch (error) {
    const isAbsent = error instanceof SvcadminError && absentCodes.has(error.code);
    if (isAbsent && !isAddressGiven) return undefined;
    throw error;
  }
}

/** Error codes of `svcadmin` for a missing server. */
const absentCodes = new Set(['no_token', 'unreachable', 'not_the_admin_api']);

/** Returns the running server that `svcadmin` finds, or starts one. @throws if the new server is not ready within 30 s */
export async function findOrStartServer(env: NodeJS.ProcessEnv = process.env): Promise<LocalServer> {
  const running = await findServer(env);
  if (running) return running;
  const dataDir = env['SVC_DATA_DIR'] ?? '.svc';
  const baseUrl = (env['SVC_BASE_URL'] ?? `http://localhost:${env['SVC_PORT'] ?? 8080}`).replace(/\/+$/, '');
  if (await isReady(baseUrl))
    throw new Error(
      `A server answers at ${baseUrl}, but svcadmin does not find it: set SVC_DATA_DIR, or SVCADMIN_URL and SVCADMIN_TOKEN`,
    );
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...env, SVC_LOG_LEVEL: 'error' },
  });
  const readLine = (name: string) => readFileSync(join(dataDir, name), 'utf8').trim();
  for (const deadline = Date.now() + within(30_000); Date.now() < deadline && child.exitCode === null; ) {
    if (await isReady(baseUrl)) {
      const token = env['SVC_ADMIN_TOKEN'] ?? readLine('admin-token');
      const connection = { SVCADMIN_URL: readLine('admin-url'), SVCADMIN_TOKEN: token };
      return { wasRunning: false, baseUrl, env: connection, stop: () => endProcess(child) };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGKILL');
  throw new Error(`no server runs here, and none could be started at ${baseUrl}`);
}
