import { join } from 'node:path';
import { writerOf } from '../../../server/billing/hand-over/writers.ts';
import { freePort } from '../../harness/free-port.ts';
import { startTcpProxy } from '../../platform/tcp-proxy.ts';
import { killPointNames } from './kill-points.ts';
import { eventually } from './retry.ts';
import { loadServer, type ServerProcess } from './server-process.ts';
import type { Worker } from './worker.ts';

/** A secret in the format that the configuration requires. */
export const adminToken = 'svc_admin_0123456789012345678901234567890123456789012';

/** Milliseconds after which a sweep of the suite takes a page's `unpublished` mark. */
export const sweptAfter = 500;
/** The product's own delay: see server/billing/publishing.ts. */
const productSweepsAfter = 10_000;
/** Milliseconds. Short for quick runs, but the attempt's limit is still far above a local POST. */
const times = { attemptBudget: 2000, lease: 2300 };

export interface EnvironmentSettings {
  /** Whether the servers reach the database through the proxy. */
  proxied?: boolean;
  /** Whether another process, and not the server, sends webhooks. */
  sendsNot?: boolean;
  /** The number of servers with one database. Faults happen to the first. Default 1. */
  servers?: number;
  /** Whether the others reach the private listener of the first one through a proxy. */
  parted?: boolean;
}

/** Enough wallets that one of eight servers writes one, except in one of 50,000 cases. */
const mostRestarts = 80;
/** Milliseconds. */
const longestJoin = 10_000;
const sampleWallets = Array.from({ length: 20 }, (_, n) => `ptr_${n}:test`);
const pidOf = (peer: string): number => Number(peer.split(':').at(-2));
const everyRole = 'api,admin,worker';

/**
 * A new database on the worker, and servers with it. The first server restarts often, always at the same address. Its
 * next process is loaded ahead, so that a start is short.
 */
export async function openEnvironment(worker: Worker, settings: EnvironmentSettings) {
  const { proxied = false, sendsNot = false, servers = 1, parted = false } = settings;
  const { name, db, direct, proxied: behindProxy } = worker.newDatabase();
  const dataDir = join(worker.dataDir, name);
  const ports = await worker.portsOf(servers);
  const [first = { http: 0, admin: 0 }, ...rest] = ports;
  // The issuer of all tokens: each server accepts those of the others.
  const baseUrl = `http://127.0.0.1:${first.http}`;

  const listener = await freePort();
  const link = parted ? await startTcpProxy(listener) : undefined;
  const load = (roles: string, { http, admin }: { http: number; admin: number }): ServerProcess =>
    loadServer({
      ...(link && http === first.http && { SVC_PEER_ADDRESS: `127.0.0.1:${listener}` }),
      ...(link && http !== first.http && { SVC_FAULT_REROUTE: `${listener}>${link.port}` }),
      SVC_FAULT: killPointNames.join(','),
      SVC_FAULT_SWEPT_EARLIER: String(productSweepsAfter - sweptAfter),
      SVC_FAULT_ATTEMPT_BUDGET: String(times.attemptBudget),
      SVC_FAULT_LEASE_TIME: String(times.lease),
      SVC_PORT: String(http),
      SVC_ADMIN_PORT: String(admin),
      SVC_BASE_URL: baseUrl,
      SVC_ROLES: roles,
      SVC_DATA_DIR: dataDir,
      SVC_ADMIN_TOKEN: adminToken,
      SVC_STARTS_PER_MINUTE: 'off',
      SVC_LOG_LEVEL: process.env['SVC_FAULT_LOG'] ?? 'silent',
      SVC_WEBHOOK_RETRY_DELAYS: '200ms,400ms',
      MONGODB_URI: proxied ? behindProxy : direct,
    });
  const loadNext = () => load(sendsNot ? 'api,admin' : everyRole, first);

  let server = loadNext();
  await server.start();
  const others = [
    ...rest.map((own) => load('api,worker', own)),
    ...(sendsNot ? [load('worker', first)] : []),
  ];
  await Promise.all(others.map((other) => other.start()));
  let next: ServerProcess | undefined;

  /** Names of these servers' private listeners, which end in process id and start time. */
  async function livingPeers(): Promise<string[]> {
    const living = new Set([server, ...others].map(({ pid }) => pid));
    const listeners = db.collection<{ peer: string }>('processes').find({ peer: { $exists: true } });
    return (await listeners.toArray()).map(({ peer }) => peer).filter((peer) => living.has(pidOf(peer)));
  }

  /** Whether the first server writes a wallet, when all servers know each other. */
  async function isWrittenByFirst(walletId: string): Promise<boolean> {
    const writer = writerOf(walletId, await livingPeers());
    return writer !== undefined && pidOf(writer) === server.pid;
  }

  /** Stops the first server if necessary, and starts it again. @throws if it ends before it is ready */
  async function restart(): Promise<void> {
    server.signal('SIGKILL');
    await server.ended;
    server = next ?? loadNext();
    next = undefined;
    await server.start();
  }

  return {
    worker,
    db,
    dataDir,
    /** URLs, one for each server. */
    publicUrls: ports.map(({ http }) => `http://127.0.0.1:${http}`),
    adminUrl: `http://127.0.0.1:${first.admin}`,
    /** The first server, to which faults happen. */
    server: () => server,
    /** The proxy of the first server's private listener, if the settings ask for one. */
    link,
    /** One sweep in every process, as many times at once. */
    async sweep(times = 1): Promise<void> {
      await Promise.all([server, ...others].map((process) => process.sweep(times)));
    },
    /** Waits until every process knows which others accept postings. */
    async refresh(): Promise<void> {
      for (let round = 0; round < 2; round += 1) {
        await Promise.all([server, ...others].map((process) => process.refresh()));
      }
    },
    isWrittenByFirst,
    /** Loads the next process of the first server ahead. */
    preload(): void {
      next ??= loadNext();
    },
    restart,
    /**
     * Restarts the first server until it writes some wallets, or until others do. A process stays a writer, or no
     * writer, until its end.
     */
    async restartUntil(writes: 'writes wallets' | 'others write wallets'): Promise<void> {
      const wanted = writes === 'writes wallets';
      for (let tries = 0; tries < mostRestarts; tries += 1) {
        // A process that joins later could be the writer instead.
        await eventually(async () => (await livingPeers()).length === servers, longestJoin);
        const first = await Promise.all(sampleWallets.map(isWrittenByFirst));
        if (first.includes(wanted)) return;
        await restart();
      }
    },
    async close(): Promise<void> {
      const all = [server, ...others, next].filter((process) => process !== undefined);
      for (const process of all) process.signal('SIGKILL');
      await Promise.all(all.map(({ ended }) => ended));
      await link?.stop();
      await worker.databaseBack();
      await db.dropDatabase();
    },
  };
}
export type Environment = Awaited<ReturnType<typeof openEnvironment>>;
/** Servers on one database, as their clients and checks reach them. */
export type Servers = Pick<Environment, 'db' | 'publicUrls' | 'adminUrl'>;
