import { readFileSync } from 'node:fs';
import { createTRPCClient, httpLink } from '@trpc/client';
import { MongoClient } from 'mongodb';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startDatabase, startMember } from '../upgrade/members.ts';

const token = 'svc_admin_0123456789012345678901234567890123456789012';

/** The most memory that a process has used, in MB. */
function peakMemory(pid: number): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Starts the built server as two processes on one database of their own. */
export async function startService() {
  const database = await startDatabase(temporaryFolder('neighbours'));
  const env = {
    ...{ MONGODB_URI: database.uri, SVC_DATA_DIR: '/proc/none', SVC_ADMIN_TOKEN: token },
    SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...{ SVC_DEMO_PORT: 'off', SVC_PORTAL: 'on', SVC_STARTS_PER_MINUTE: 'off' },
    ...{ SVC_LOG_LEVEL: 'error', SVC_LOCALHOST_WEBHOOKS: 'on' },
  };
  const members = [await startMember(process.cwd(), env), await startMember(process.cwd(), env)];
  const client = new MongoClient(database.uri, { directConnection: true, retryWrites: false });
  await client.connect();
  const headers = { authorization: `Bearer ${token}` };
  const links = [httpLink({ url: `${members[0]?.adminUrl}/trpc`, headers })];
  const addresses = members.map(({ port }) => `http://localhost:${port}`);
  const [first = ''] = addresses;
  return {
    /** What the harness needs of a server: the first process. */
    server: {
      admin: createTRPCClient<AdminRouter>({ links }),
      ...{ baseUrl: first, publicUrl: first, db: client.db() },
    },
    addresses,
    /** The statuses of `/readyz` of all processes. */
    ready: () => Promise.all(addresses.map(async (address) => (await fetch(`${address}/readyz`)).status)),
    /** The most memory of a process, in MB. */
    memory: () => Math.max(...members.map(({ pid }) => peakMemory(pid))),
    async end(): Promise<void> {
      await client.close();
      for (const member of members) await member.end();
      await database.end();
    },
  };
}
export type Service = Awaited<ReturnType<typeof startService>>;
