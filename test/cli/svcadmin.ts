import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adminToken } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { runInProcess } from './run-in-process.ts';

export const executableOf = (program: 'svcadmin' | 'svc') =>
  fileURLToPath(new URL(`../../cli/bin/${program}.js`, import.meta.url));
export const executable = executableOf('svcadmin');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Run = (args: string[], options?: RunOptions) => Promise<Ended>;

interface RunOptions {
  /** What stdin has; nothing if it is absent. */
  input?: string;
  /** Whether stdin does not end, as if nobody typed anything. */
  isWaiting?: boolean;
  env?: Record<string, string>;
}

export interface CommandLine {
  /** An empty directory. No parent directory has a `.svc` with the token of a local server. */
  cwd: string;
  env: Record<string, string>;
  run: Run;
  /** Like `run`, but in a separate process. */
  start: Run;
  /** Runs with `--json`, expects exit code 0, and returns the value. */
  json: <T = Record<string, unknown>>(...args: string[]) => Promise<T>;
}

/** Returns calls of a built program, which runs without a terminal and with only the given environment. */
export function createCommandLine(
  program: 'svcadmin' | 'svc',
  { cwd, env }: Pick<CommandLine, 'cwd' | 'env'>,
): CommandLine {
  const run: Run = (args, { input = '', isWaiting = false, env: more = {} } = {}) =>
    runInProcess(args, { program, cwd, env: { ...env, ...more }, input: isWaiting ? undefined : input });

  const start: Run = (args, { input = '', env: more = {} } = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [executableOf(program), ...args], {
        cwd,
        env: { ...env, ...more },
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
      child.stdin.end(input);
    });

  return {
    cwd,
    env,
    run,
    start,
    async json<T>(...args: string[]) {
      const { code, stdout, stderr } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited ${code}: ${stderr}${stdout}`);
      return JSON.parse(stdout) as T;
    },
  };
}

/** Returns the environment of a program whose configuration directory is in `cwd`. */
export const ownEnvironment = (cwd: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: cwd,
  XDG_CONFIG_HOME: join(cwd, 'config'),
  TZ: 'Europe/Berlin',
});

/** Returns calls of `svcadmin` in a new directory. Without `token`, the first owner's token is used. */
export async function commandLine(url: string, token: string | undefined = adminToken): Promise<CommandLine> {
  const cwd = temporaryFolder('cli');
  const env = { ...ownEnvironment(cwd), SVCADMIN_URL: url, ...(token ? { SVCADMIN_TOKEN: token } : {}) };
  return createCommandLine('svcadmin', { cwd, env });
}
