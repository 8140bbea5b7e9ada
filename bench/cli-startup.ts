import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startOurs } from './contenders/ours.ts';
import type { DatabaseServer } from './database.ts';
import type { Load } from './load/load.ts';
import { root, temporaryDirectory } from './processes.ts';
import { median } from './statistics.ts';

export interface CliStartup {
  /** The command line. */
  command: string;
  /** Milliseconds from the start of the process to its end: the median of all runs, and the shortest. */
  medianMs: number;
  minMs: number;
  runs: number;
}

/** The milliseconds of one run. @throws if it does not exit with 0 */
async function time(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [`${root}/cli/bin/svcadmin.js`, ...args], { env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`svcadmin ${args.join(' ')} exited ${code}`);
  return performance.now() - began;
}

/**
 * Measures how long the built `svcadmin` runs: commands without a server, and lists and shows of a real server with
 * some exchanges per partner. The first run of each does not count, because its files are not cached yet.
 * @throws if a command fails, as before `npm run build`
 */
export async function measureCliStartup(context: {
  database: DatabaseServer;
  load: Load;
  smoke: boolean;
}): Promise<CliStartup[]> {
  const { database, load, smoke } = context;
  const { admin, owners, contenders, stop } = await startOurs({
    ...{ database, load, name: 'cli', processes: [1], partnerCount: smoke ? 5 : undefined },
  });
  const [ours] = contenders;
  const count = smoke ? 10 : 2_000;
  const requests = (await ours?.prepareExchanges(count, 'many')) ?? [];
  await load.run({ origins: ours?.origins ?? [], path: ours?.tokenPath ?? '', requests, callers: 16 });
  const partner = owners[0]?.partnerId ?? '';
  const home = temporaryDirectory();
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: home,
    SVCADMIN_URL: admin.url,
    SVCADMIN_TOKEN: admin.token,
  };
  const commands = [
    ['--version'],
    ['partners', 'show', '--help'],
    ['whoami'],
    ['partners', 'list'],
    ['wallets', 'list', '--days-left', '30'],
    ['sessions', 'list', '--limit', '100'],
    ['wallets', 'show', partner, '--mode', 'test'],
    ['show', partner],
  ];
  const measured: CliStartup[] = [];
  for (const args of commands) {
    await time(args, env);
    const times: number[] = [];
    while (times.length < (smoke ? 1 : 10)) times.push(await time(args, env));
    const command = ['svcadmin', ...args].join(' ').replace(partner, 'PARTNER');
    measured.push({ command, medianMs: median(times), minMs: Math.min(...times), runs: times.length });
  }
  await stop();
  return measured;
}
