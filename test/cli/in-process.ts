import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { runCommandLine as Run } from '../../cli/command-line.ts';
import { firstToken } from '../admin/admin-server.ts';

/** Loaded by Node itself, as oclif loads the commands: both have the same modules then. */
const load = createRequire(import.meta.url);
const compiled = fileURLToPath(new URL('../../dist/cli/command-line.js', import.meta.url));

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the built `svcadmin` in this process, without a terminal: many times quicker than a process of its own. */
export async function runInProcess(
  url: string,
  args: readonly string[],
  token = firstToken,
): Promise<Output> {
  const { runCommandLine } = load(compiled) as { runCommandLine: typeof Run };
  const before = { ...process.env };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  const seen = { stdout: '', stderr: '' };
  const capture = (stream: 'stdout' | 'stderr') => {
    process[stream].write = ((text: string | Uint8Array, ...rest: unknown[]) => {
      seen[stream] += String(text);
      const done = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined;
      done?.();
      return true;
    }) as typeof process.stdout.write;
  };
  Object.assign(process.env, { SVCADMIN_URL: url, SVCADMIN_TOKEN: token, XDG_CONFIG_HOME: tmpdir() });
  capture('stdout');
  capture('stderr');
  try {
    const code = await runCommandLine([...args]);
    return { code, ...seen };
  } finally {
    process.stdout.write = writes.stdout;
    process.stderr.write = writes.stderr;
    process.stdout.removeAllListeners('drain');
    process.exitCode = undefined;
    process.env = before;
  }
}
