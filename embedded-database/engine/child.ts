import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DirectoryInUse } from './directory-lock.ts';
import { exitCode } from './exit-codes.ts';
import { EngineUnavailable } from './load.ts';
import type { RunningProcess } from './running.ts';

/** The child ends itself after at most 5 s. If it still runs after this time, it is killed. */
const killAfterMs = 7_000;
const keptOutput = 2_000;
/** The signals that end a process if the processor lacks an instruction, or if a library is incompatible. */
const crashSignals: readonly unknown[] = ['SIGILL', 'SIGSEGV'];

/** The compiled program; this file itself may run uncompiled, under the test runner. */
export const engineProgram = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../dist/embedded-database/engine/mongod.js', import.meta.url)
    : new URL('mongod.js', import.meta.url),
);

/** The child needs none of our secrets, and no debugger on the port of ours. */
const childEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_OPTIONS'),
  );

const failure = (code: number | null, signal: NodeJS.Signals | null, output: string): Error => {
  const said = output.trim();
  if (code === exitCode.directoryInUse) return new DirectoryInUse(said);
  if (code === exitCode.engineUnavailable || crashSignals.includes(signal)) {
    return new EngineUnavailable(said || `the database engine ended by ${signal}`);
  }
  return new Error(`the database process ended (${signal ?? code}): ${said}`);
};

const stopper = (child: ChildProcess, ended: Promise<unknown>) => async (): Promise<void> => {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  await ended;
  clearTimeout(timer);
};

/**
 * Starts the embedded engine on `<dataDir>/db` in a child process. The child reads a pipe from this process, so it ends
 * whenever this process ends. The child has its own process group, so Ctrl-C in the terminal does not reach it. The
 * server still needs the database to finish its requests.
 *
 * @throws DirectoryInUse with the pid of the process that still uses the directory after 5 s
 * @throws EngineUnavailable if the engine is not installed or does not load
 */
export const launchEngine = (
  dataDir: string,
  port: number,
  program: string = engineProgram,
): Promise<RunningProcess> => {
  const options = ['--port', String(port), '--dbpath', join(dataDir, 'db'), '--bind_ip', '127.0.0.1'];
  const child = spawn(
    process.execPath,
    [program, ...options, '--engine-cache', join(dataDir, 'engine'), '--exit-with-parent'],
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: childEnvironment() },
  );
  let output = '';
  const keep = (chunk: string): void => {
    output = (output + chunk).slice(-keptOutput);
  };
  child.stdin.on('error', () => undefined); // it may end before we do
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);

  return new Promise((ready, failed) => {
    const ended = new Promise<string>((settle) => {
      child.on('error', failed);
      child.once('close', (code, signal) => {
        failed(failure(code, signal, output));
        settle(`${signal ?? `exit code ${code}`}: ${output.trim()}`);
      });
    });
    child.stdout.on('data', () => {
      const listening = /waiting for connections on [^\n]*:(\d+)\n/.exec(output);
      if (!listening || child.pid === undefined) return;
      output = '';
      ready({ pid: child.pid, port: Number(listening[1]), ended, stop: stopper(child, ended) });
    });
  });
};
