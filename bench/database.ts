import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { type Db, MongoClient } from 'mongodb';
import { freePort, launch, temporaryDirectory } from './processes.ts';

/** The one database server of all contenders. Each has a separate database. */
export interface DatabaseServer {
  name: string;
  /** Undefined for a server that was running before. */
  pid: number | undefined;
  /** Connection string of a contender's database. */
  uri(contender: string): string;
  /** The same database, for preparation and checks. */
  db(contender: string): Db;
  stop(): Promise<void>;
}

/** Whether something listens on this port of the machine. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function startEngine() {
  const directory = temporaryDirectory();
  const port = await freePort();
  const program = await launch({
    args: [
      'dist/embedded-database/engine/mongod.js',
      ...['--port', String(port), '--dbpath', directory, '--bind_ip', '127.0.0.1'],
    ],
    ready: () => accepts(port),
  });
  return {
    name: 'embedded engine',
    pid: program.pid,
    address: `mongodb://127.0.0.1:${port}/?directConnection=true&retryWrites=false`,
    stop: program.stop,
  };
}

/** The server that MONGODB_URI names, or the embedded engine in a fresh directory. */
export async function openDatabaseServer(given = process.env['MONGODB_URI']): Promise<DatabaseServer> {
  const server = given
    ? { name: 'MONGODB_URI', pid: undefined, address: given, stop: async () => undefined }
    : await startEngine();
  const run = randomBytes(4).toString('hex');
  const nameOf = (contender: string) => `svc_bench_${run}_${contender}`;
  const client = await MongoClient.connect(server.address, { retryWrites: false });
  const used = new Set<string>();

  function uri(contender: string): string {
    used.add(contender);
    const url = new URL(server.address);
    url.pathname = `/${nameOf(contender)}`;
    return url.href;
  }

  return {
    name: server.name,
    pid: server.pid,
    uri,
    db: (contender) => client.db(nameOf(contender)),
    async stop() {
      for (const contender of used) await client.db(nameOf(contender)).dropDatabase();
      await client.close();
      await server.stop();
    },
  };
}
