import { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { runCommandLine } from '../../cli/program/command-line.ts';

const built = fileURLToPath(new URL('../../dist/cli/program/command-line.js', import.meta.url));

export interface Context {
  program: 'svcadmin' | 'svc';
  cwd: string;
  env: Record<string, string>;
  /** What stdin has. Undefined if nobody types anything. Then stdin does not end. */
  input: string | undefined;
}

type Written = (error?: Error | null) => void;

/** Captures the output to a stream of this process, including that of `console`. */
function capture(stream: NodeJS.WriteStream) {
  const original = stream.write;
  let text = '';
  stream.write = (chunk: Uint8Array | string, ...rest: (string | Written | undefined)[]): boolean => {
    text += chunk.toString();
    for (const each of rest) if (typeof each === 'function') each();
    return true;
  };
  return {
    text: () => text,
    restore: () => {
      stream.write = original;
    },
  };
}

/** Replaces stdin of this process by a stream of `input`. Returns a function that restores it. */
function replaceInput(input: string | undefined): () => void {
  const original = Object.getOwnPropertyDescriptor(process, 'stdin');
  const open = () => new Readable({ read: () => undefined });
  const value = input === undefined ? open() : Readable.from(input === '' ? [] : [Buffer.from(input)]);
  Object.defineProperty(process, 'stdin', { value, configurable: true });
  return () => {
    if (original) Object.defineProperty(process, 'stdin', original);
  };
}

/** Changes `process.env` in place, because only then does Node notice a new time zone. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

async function runAlone(args: string[], { program, cwd, env, input }: Context) {
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const restoreInput = replaceInput(input);
  const before = { env: { ...process.env }, cwd: process.cwd(), exitCode: process.exitCode };
  process.chdir(cwd);
  setEnvironment(env);
  process.exitCode = undefined;
  try {
    const module = (await import(pathToFileURL(built).href)) as { runCommandLine: typeof runCommandLine };
    const code = await module.runCommandLine(args, program);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.restore();
    stderr.restore();
    restoreInput();
    setEnvironment(before.env);
    process.chdir(before.cwd);
    process.exitCode = before.exitCode;
  }
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the built command line in this process, with a temporary environment, directory and streams. Runs are therefore
 * sequential.
 */
export function runInProcess(args: string[], context: Context): ReturnType<typeof runAlone> {
  const run = last.then(() => runAlone(args, context));
  last = run.catch(() => undefined);
  return run;
}
