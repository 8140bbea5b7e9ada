// A program: the embedded engine as a database server of its own, on a loopback port. It has the command line of
// mongod as far as mongodb-memory-server uses it. It is a process apart from the server because the engine is
// native code: it must not take the server down, nor block it.
import { mkdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DirectoryInUse, openLocked } from './directory-lock.ts';
import { exitCode } from './exit-codes.ts';
import { type Engine, EngineUnavailable, loadEngine } from './load.ts';
import { serveConnection } from './wire.ts';

const { values } = parseArgs({
  strict: false, // other flags of mongod are let pass
  options: {
    port: { type: 'string', default: '27017' },
    dbpath: { type: 'string', default: 'data' },
    bind_ip: { type: 'string', default: '127.0.0.1' },
    'engine-cache': { type: 'string', default: join(tmpdir(), `svc-engine-${userInfo().uid}`) },
    'exit-with-parent': { type: 'boolean', default: false },
    version: { type: 'boolean', default: false },
  },
});

/** Longest wait for the engine to close; what is journaled is safe without it. */
const closeWithinMs = 5_000;
const sockets = new Set<Socket>();
let opening: Promise<Engine> | undefined;

const end = async (code: number): Promise<void> => {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), closeWithinMs).unref();
  for (const socket of sockets) socket.destroy();
  // One that is still opening is waited for: its threads do not survive an exit in the middle of that.
  await opening?.then((engine) => engine.close()).catch(() => undefined);
  process.exit(code);
};

let isEnding = false;
const endOnce = (code: number): void => {
  if (isEnding) return;
  isEnding = true;
  void end(code);
};

const listen = (opened: Engine): Promise<Server> => {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serveConnection(opened, socket);
  });
  return new Promise((settled, failed) => {
    server.once('error', failed);
    server.listen({ port: Number(values.port), host: String(values.bind_ip) }, () => settled(server));
  });
};

const codeOf = (error: unknown): number => {
  if (error instanceof DirectoryInUse) return exitCode.directoryInUse;
  if (error instanceof EngineUnavailable) return exitCode.engineUnavailable;
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    ? exitCode.portInUse
    : exitCode.failed;
};

const run = async (): Promise<void> => {
  const directory = resolve(String(values.dbpath));
  const withParent = values['exit-with-parent'] === true;
  process.on('SIGINT', () => endOnce(0));
  process.on('SIGTERM', () => endOnce(0));
  if (withParent) process.stdin.on('close', () => endOnce(0)).resume();

  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const engineType = loadEngine(String(values['engine-cache']));
  const holder = withParent ? process.ppid : process.pid;
  const open = (): Promise<Engine> => {
    opening = engineType.open(directory);
    return opening;
  };
  const engine = await openLocked(directory, open, holder);
  const address = (await listen(engine)).address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.stdout.write(`waiting for connections on ${values.bind_ip}:${port}\n`);
};

if (values.version === true) {
  process.stdout.write('db version v0.1.1-embedded\n');
} else {
  await run().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    endOnce(codeOf(error));
  });
}
