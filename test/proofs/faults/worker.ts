import { MongoClient } from 'mongodb';
import { startEmbedded } from '../../../embedded-database/embedded.ts';
import { failCommandsOfEndedConnections } from '../../../server/platform/database/ended-connections.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { freePort } from '../../harness/free-port.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startProxy } from './proxy.ts';
import { startReceiver } from './receiver.ts';
import { retry } from './retry.ts';

failCommandsOfEndedConnections();

interface Ports {
  http: number;
  admin: number;
}

/**
 * Creates what sequential runs share: a database process, which restarts after a kill; a proxy before it; a receiver of
 * webhooks; and fixed ports for restarted servers.
 */
export async function createWorker() {
  const dataDir = temporaryFolder('faults');
  const engine = await startEmbedded({ dataDir, logger: createLogger('silent') });
  const proxy = await startProxy(engine.port);
  const receiver = await startReceiver();
  const address = (port: number, database: string) =>
    `mongodb://127.0.0.1:${port}/${database}?directConnection=true&retryWrites=false`;
  const client = await new MongoClient(address(engine.port, 'svc'), {
    promoteLongs: true,
    writeConcern: { w: 1, journal: true }, // data must survive a kill of the database's process
  }).connect();
  const ports: Ports[] = [];
  let databases = 0;

  return {
    dataDir,
    proxy,
    receiver,
    /** Returns the fixed ports of this number of servers. */
    async portsOf(servers: number): Promise<Ports[]> {
      while (ports.length < servers) ports.push({ http: await freePort(), admin: await freePort() });
      return ports.slice(0, servers);
    },
    /** Creates a database, and connects to it without the proxy and without code of the product. */
    newDatabase() {
      databases += 1;
      const name = `run_${databases}`;
      return {
        name,
        db: client.db(name),
        direct: address(engine.port, name),
        proxied: address(proxy.port, name),
      };
    },
    databaseProcess: () => engine.pid(),
    /** Waits until the database answers. */
    databaseBack: () => retry(() => client.db('admin').command({ ping: 1 })),
    async close(): Promise<void> {
      await client.close();
      await proxy.close();
      await receiver.close();
      await engine.stop();
    },
  };
}
export type Worker = Awaited<ReturnType<typeof createWorker>>;
