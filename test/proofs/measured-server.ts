import { createTRPCClient, httpLink } from '@trpc/client';
import { MongoClient } from 'mongodb';
import type { AdminRouter } from '../../server/operations/admin-router.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { startDatabase, startMember } from './upgrade/members.ts';

const token = 'svc_admin_0123456789012345678901234567890123456789012';

/**
 * Starts the built server with a database of its own, for programs that measure it.
 * @param name the name of its temporary folder
 */
export async function startMeasured(name: string) {
  const database = await startDatabase(temporaryFolder(name));
  const server = await startMember(process.cwd(), {
    MONGODB_URI: database.uri,
    SVC_DATA_DIR: '/proc/none',
    SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    SVC_ADMIN_TOKEN: token,
    SVC_DEMO_PORT: 'off',
    SVC_LOG_LEVEL: 'warn',
    SVC_STARTS_PER_MINUTE: 'off',
  });
  const headers = { authorization: `Bearer ${token}` };
  const links = [httpLink({ url: `${server.adminUrl}/trpc`, headers })];
  const client = new MongoClient(database.uri, { directConnection: true, retryWrites: false });
  await client.connect();
  return {
    admin: createTRPCClient<AdminRouter>({ links }),
    baseUrl: `http://localhost:${server.port}`,
    db: client.db(),
    async end() {
      await client.close();
      await server.end();
      await database.end();
    },
  };
}
