import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { keepFolder, temporaryFolder } from '../../harness/temporary-folder.ts';
import { within } from '../../harness/time-limits.ts';
import { adminToken } from '../faults/environment.ts';
import { eventually } from '../faults/retry.ts';

interface Settings {
  /** The compiled `server/main.js`, the product's own or a mutant's. */
  program: string;
  mongodbUri: string;
  /** The number of servers. */
  count: number;
}

const longestStartMs = 180_000;
const longestStopMs = within(15_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Starts processes of the product with one database. Their warnings go to files in `dataDir`.
 * @throws if one of them does not start
 */
export async function startServers({ program, mongodbUri, count }: Settings) {
  const dataDir = temporaryFolder('drill-servers');
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const adminPort = await freePort();
  const publicUrls = ports.map((port) => `http://127.0.0.1:${port}`);
  const deaths: string[] = [];
  let isStopping = false;

  function start(port: number, index: number): ChildProcess {
    const log = openSync(join(dataDir, `server-${index}.log`), 'a');
    const child = spawn(process.execPath, [program], {
      env: {
        PATH: process.env['PATH'] ?? '',
        SVC_PORT: String(port),
        SVC_ADMIN_PORT: String(adminPort),
        SVC_ROLES: index === 0 ? 'api,admin,worker' : 'api,worker',
        SVC_BASE_URL: publicUrls[0], // the issuer of all tokens: each server accepts those of the other
        SVC_DATA_DIR: dataDir,
        SVC_ADMIN_TOKEN: adminToken,
        SVC_STARTS_PER_MINUTE: 'off',
        SVC_WEBHOOK_RETRY_DELAYS: '200ms,400ms',
        SVC_LOG_LEVEL: 'warn',
        MONGODB_URI: mongodbUri,
      },
      stdio: ['ignore', log, log],
      detached: true, // an interrupt in the terminal must only reach the drill
    });
    child.once('exit', (code, signal) => {
      if (!isStopping) deaths.push(`server ${index} ended by itself: ${signal ?? code}`);
    });
    return child;
  }

  const children: ChildProcess[] = [];
  const killAll = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  // Without this, the servers would run on after the drill has ended.
  process.once('exit', killAll);
  for (const [index, port] of ports.entries()) {
    children.push(start(port, index));
    const ready = () => isReady(publicUrls[index] ?? '');
    if (!(await eventually(ready, longestStartMs))) {
      killAll();
      keepFolder(dataDir);
      throw new Error(`server ${index} is not ready after ${longestStartMs} ms: see ${dataDir}`);
    }
  }

  async function stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), longestStopMs);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }

  return {
    publicUrls,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    dataDir,
    /** Returns a line for each server process that has ended unexpectedly. */
    deaths: (): readonly string[] => deaths,
    /** @param keep whether the warning files stay */
    async close(keep: boolean): Promise<void> {
      isStopping = true;
      await Promise.all(children.map(stop));
      process.off('exit', killAll);
      if (keep) keepFolder(dataDir);
    },
  };
}
