import { databaseOfServer } from '../harness/database.ts';
import { startTestServer } from '../harness/server.ts';
import { startTcpProxy } from './tcp-proxy.ts';

/**
 * A server that reaches its database through a proxy, with which a test makes the database unreachable. The caller
 * stops it.
 */
export async function startBehindProxy(env: Record<string, string> = {}) {
  const database = await databaseOfServer({ once: true });
  const url = new URL(database.uri);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  url.searchParams.set('directConnection', 'true');
  const server = await startTestServer({ env: { MONGODB_URI: url.href, ...env } });
  return {
    database,
    proxy,
    server,
    async stop() {
      await proxy.restore();
      await server.stop();
      await proxy.stop();
      await database.drop();
    },
  };
}
export type BehindProxy = Awaited<ReturnType<typeof startBehindProxy>>;
