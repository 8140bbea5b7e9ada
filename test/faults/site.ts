import { join } from 'node:path';
import { faultPoints } from './fault.ts';
import type { Lane } from './lane.ts';
import { loadServer, type ServerProcess } from './server-process.ts';

/** A product secret of the form that the configuration wants. */
export const adminToken = 'svc_admin_0123456789012345678901234567890123456789012';

/** Milliseconds. Short, so that runs are; the attempt's budget is still far above what a local POST takes. */
const times = { hold: 500, attemptBudget: 2000, lease: 2300 };

export interface SiteSettings {
  /** Whether the server reaches the database through the proxy. */
  proxied?: boolean;
  /** Whether the server leaves webhooks to another process beside it. */
  sendsNot?: boolean;
}

/**
 * A database of its own on the lane, and the server on it: started again and again, always at the same address. The
 * next process is loaded ahead, so that a start is short.
 */
export async function openSite(lane: Lane, { proxied = false, sendsNot = false }: SiteSettings) {
  const { name, db, direct, proxied: behindProxy } = lane.newDatabase();
  const { ports } = lane;

  const load = (roles: string): ServerProcess =>
    loadServer({
      SVC_FAULT: faultPoints.join(','),
      SVC_FAULT_HOLD_LIFETIME: String(times.hold),
      SVC_FAULT_ATTEMPT_BUDGET: String(times.attemptBudget),
      SVC_FAULT_LEASE_TIME: String(times.lease),
      SVC_PORT: String(ports.public),
      SVC_ADMIN_PORT: String(ports.admin),
      SVC_ROLES: roles,
      SVC_DATA_DIR: join(lane.dataDir, name),
      SVC_ADMIN_TOKEN: adminToken,
      SVC_STARTS_PER_MINUTE: 'off',
      SVC_LOG_LEVEL: process.env['SVC_FAULT_LOG'] ?? 'silent',
      SVC_WEBHOOK_RETRY_DELAYS: '200ms,400ms',
      MONGODB_URI: proxied ? behindProxy : direct,
    });
  const loadNext = () => load(sendsNot ? 'api,admin' : 'api,admin,worker');

  let server = loadNext();
  await server.start();
  const sender = sendsNot ? load('worker') : undefined;
  await sender?.start();
  let next: ServerProcess | undefined;

  return {
    lane,
    db,
    publicUrl: `http://127.0.0.1:${ports.public}`,
    adminUrl: `http://127.0.0.1:${ports.admin}`,
    /** The server that is running, or has just been struck. */
    server: () => server,
    /** One sweep in every process, as many times at once. */
    async sweep(times = 1): Promise<void> {
      await Promise.all([server, sender].map(async (process) => process?.sweep(times)));
    },
    /** Loads the next server ahead. */
    preload(): void {
      next ??= loadNext();
    },
    /** Ends the server if need be, and starts the next. @throws where that ends before it is up */
    async restart(): Promise<void> {
      server.signal('SIGKILL');
      await server.ended;
      server = next ?? loadNext();
      next = undefined;
      await server.start();
    },
    async close(): Promise<void> {
      const all = [server, sender, next].filter((process) => process !== undefined);
      for (const process of all) process.signal('SIGKILL');
      await Promise.all(all.map(({ ended }) => ended));
      await lane.databaseBack();
      await db.dropDatabase();
    },
  };
}
export type Site = Awaited<ReturnType<typeof openSite>>;
