import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { within } from '../harness/time-limits.ts';

/** Where compilers and type checkers of other languages keep their results for the next run, by the name of the program. */
export const cacheOf = (program: string) =>
  fileURLToPath(new URL(`../../node_modules/.cache/${program}`, import.meta.url));

/** Whether this machine has a program. Runs it with `argument`, which asks for its version. */
export function hasProgram(program: string, argument = '--version'): boolean {
  return spawnSync(program, [argument]).status === 0;
}

export interface Program {
  /** Returns the program's output so far, line by line. */
  lines: () => string[];
}

/** Starts a program that runs until the test ends. Resolves when `port` answers. */
export async function start(
  [command = '', ...args]: readonly string[],
  options: { cwd: string; env: Record<string, string>; port: number },
): Promise<Program> {
  const child: ChildProcess = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    detached: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  onTestFinished(() => {
    // The program has a process group of its own, so that its child processes end too.
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended: ${printed}`);
    const response = await fetch(`http://127.0.0.1:${options.port}/none`, { method: 'POST' });
    await response.text();
    return true;
  };
  await expect.poll(answers, { timeout: within(25_000) }).toBe(true);
  return { lines: () => printed.split('\n').filter(Boolean) };
}
