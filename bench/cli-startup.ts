import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { root, temporaryDirectory } from './processes.ts';
import { median } from './statistics.ts';

export interface CliStartup {
  /** As it is typed. */
  command: string;
  /** From the start of the process to its end, in milliseconds: the middle of all runs, and the shortest. */
  medianMs: number;
  minMs: number;
  runs: number;
}

const operator = { id: 'opr_bench', name: 'bench', role: 'owner' };

/** Stands in for the admin listener: answers `operators.whoami` at once, so that only svcadmin is measured. */
async function answerWhoami(): Promise<{ url: string; close: () => void }> {
  const server = createServer((_request, response) => {
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ result: { data: operator } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Milliseconds that one run takes. @throws where it does not exit 0 */
async function time(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [`${root}/cli/bin/svcadmin.js`, ...args], { env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`svcadmin ${args.join(' ')} exited ${code}`);
  return performance.now() - began;
}

/**
 * How long the built `svcadmin` takes from start to end, for what needs no server and for one call of the admin
 * API. A first run of each, which finds the files not yet cached, does not count. Node's own start is the floor.
 * @throws where a command fails, as it does before `npm run build`
 */
export async function measureCliStartup(runs = 10): Promise<CliStartup[]> {
  const { url, close } = await answerWhoami();
  const home = temporaryDirectory();
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: home,
    SVCADMIN_URL: url,
    SVCADMIN_TOKEN: 'bench',
  };
  const measured: CliStartup[] = [];
  for (const args of [['--version'], ['partners', 'show', '--help'], ['whoami', '--json']]) {
    await time(args, env);
    const times: number[] = [];
    while (times.length < runs) times.push(await time(args, env));
    const command = ['svcadmin', ...args].join(' ');
    measured.push({ command, medianMs: median(times), minMs: Math.min(...times), runs });
  }
  close();
  return measured;
}
