import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Programs of the bench (load generator, peers) run as separate processes. They are called by name over IPC. */
interface Call {
  id: number;
  method: string;
  input: unknown;
}
type Reply = { id: number; output: unknown } | { id: number; error: string };

/** In the program: answers calls until the bench has ended. */
export function answerCalls(methods: Record<string, (input: never) => unknown>): void {
  async function answer({ id, method, input }: Call): Promise<Reply> {
    try {
      const call = methods[method] as ((input: unknown) => unknown) | undefined;
      if (!call) throw new Error(`no method ${method}`);
      return { id, output: await call(input) };
    } catch (error) {
      return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }
  process.on('disconnect', () => process.exit());
  process.on('message', (call: Call) => {
    void answer(call).then((reply) => process.send?.(reply));
  });
}

export interface Remote {
  pid: number;
  call<Output>(method: string, input?: unknown): Promise<Output>;
  stop(): Promise<void>;
}

/** Options of Node for our servers and for those of others: those of `npm start`. */
export const nodeFlags = ['--max-semi-space-size=64'] as const;

/** In the bench: starts a program at `path`, relative to bench/. */
export function startProgram(path: string, args: readonly string[] = []): Remote {
  const program = fileURLToPath(new URL(path.replace(/\.ts$/, '.js'), import.meta.url));
  const env = { ...process.env, NODE_ENV: 'production' };
  const child: ChildProcess = fork(program, args, { execArgv: [...nodeFlags], env });
  const waiting = new Map<number, { resolve: (output: never) => void; reject: (error: Error) => void }>();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let calls = 0;

  child.on('message', (reply: Reply) => {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('error' in reply) caller?.reject(new Error(`${path}: ${reply.error}`));
    else caller?.resolve(reply.output as never);
  });
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${path} ended`));
  });

  return {
    pid: child.pid ?? 0,
    call: (method, input) =>
      new Promise((resolve, reject) => {
        calls += 1;
        waiting.set(calls, { resolve, reject });
        child.send({ id: calls, method, input } satisfies Call);
      }),
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}
