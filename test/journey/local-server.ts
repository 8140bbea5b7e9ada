import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/') ? '../../server/main.js' : '../../dist/server/main.js',
    import.meta.url,
  ),
);

async function answers(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

export interface LocalServer {
  /** Whether it ran before. */
  found: boolean;
  stop(): Promise<void>;
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** The server at `baseUrl`, started where none answers. @throws where it does not come up within 30 s */
export async function findOrStartServer(baseUrl: string): Promise<LocalServer> {
  if (await answers(baseUrl)) return { found: true, stop: async () => undefined };
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SVC_LOG_LEVEL: 'error' },
  });
  for (const deadline = Date.now() + 30_000; Date.now() < deadline && child.exitCode === null; ) {
    if (await answers(baseUrl)) return { found: false, stop: () => end(child) };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGKILL');
  throw new Error(`no server answers at ${baseUrl}, and none could be started`);
}
