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

/** The age in milliseconds from which a sweep of the suite removes the `unpublished` mark of a page. */
export const sweptAfterMs = 500;
/** The delay of the product in server/billing/publishing.ts. */
const productSweepsAfter = 10_000;
/** Times of webhooks in milliseconds. They are short for quick runs, but a local POST is much shorter than the limit. */
const webhookTimesMs = { attemptBudget: 2000, lease: 2300 };

export interface EnvironmentSettings {
  /** Whether the servers reach the database through the proxy. */
  proxied?: boolean;
  /** Whether another process, and not the server, sends webhooks. */
  sendsNot?: boolean;
  /** The number of servers on the database. Faults happen to the first server. The default is 1. */
  servers?: number;
  /** Whether the other servers reach the private listener of the first server through a proxy. */
  parted?: boolean;
}

/** Each restart of all servers makes the first a writer with a probability of at least 1/4, so 60 fail once in 30 million runs. */
const mostRestarts = 60;
const longestJoinMs = 30_000;
const sampleWallets = Array.from({ length: 20 }, (_, n) => `ptr_${n}:test`);
const pidOf = (peer: string): number => Number(peer.split(':').at(-2));
const everyRole = 'api,admin,worker';

/**
 * Creates a database on the worker, and starts servers on it. The first server restarts often, always at the same address.
 * Its next process is loaded before the restart, so that the restart is short.
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
      SVC_FAULT_SWEPT_EARLIER: String(productSweepsAfter - sweptAfterMs),
      SVC_FAULT_ATTEMPT_BUDGET: String(webhookTimesMs.attemptBudget),
      SVC_FAULT_LEASE_TIME: String(webhookTimesMs.lease),
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

  const loadOthers = () => [
    ...rest.map((own) => load('api,worker', own)),
    ...(sendsNot ? [load('worker', first)] : []),
  ];

  let server = loadNext();
  await server.start();
  let others = loadOthers();
  await Promise.all(others.map((other) => other.start()));
  let next: ServerProcess | undefined;

  /** Names of these servers' private listeners, which end in process id and start time. */
  async function livingPeers(): Promise<string[]> {
    const living = new Set([server, ...others].map(({ pid }) => pid));
    const listeners = db.collection<{ peer: string }>('processes').find({ peer: { $exists: true } });
    return (await listeners.toArray()).map(({ peer }) => peer).filter((peer) => living.has(pidOf(peer)));
  }

  /** Returns whether the first server writes a wallet, after all servers know each other. */
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

  /** Stops all servers, and starts new ones at the same addresses. @throws if one ends before it is ready */
  async function restartAll(): Promise<void> {
    for (const other of others) other.signal('SIGKILL');
    await Promise.all(others.map(({ ended }) => ended));
    others = loadOthers();
    await Promise.all([restart(), ...others.map((other) => other.start())]);
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
    /** Runs `simultaneous` sweeps in every process at the same time. */
    async sweep(simultaneous = 1): Promise<void> {
      await Promise.all([server, ...others].map((process) => process.sweep(simultaneous)));
    },
    /** Waits until every process knows which other processes accept postings. */
    async refresh(): Promise<void> {
      for (let round = 0; round < 2; round += 1) {
        await Promise.all([server, ...others].map((process) => process.refresh()));
      }
    },
    isWrittenByFirst,
    /** Loads the next process of the first server before it is needed. */
    preload(): void {
      next ??= loadNext();
    },
    restart,
    /**
     * Restarts all servers until the first one writes some wallets, or until others do. The writers change only when
     * processes start or end. To restart only the first server is not enough: if the hash of another is very high, the first
     * does not become a writer.
     * @throws if servers do not join, or if the restarts were not enough
     */
    async restartUntil(writes: 'writes wallets' | 'others write wallets'): Promise<void> {
      const wanted = writes === 'writes wallets';
      for (let tries = 0; tries < mostRestarts; tries += 1) {
        // Wait for all processes, because one that joins later could become the writer instead.
        const haveJoined = await eventually(
          async () => (await livingPeers()).length === servers,
          longestJoinMs,
        );
        if (!haveJoined) throw new Error(`not all of ${servers} servers have joined`);
        const first = await Promise.all(sampleWallets.map(isWrittenByFirst));
        if (first.includes(wanted)) return;
        await restartAll();
      }
      throw new Error(
        `after ${mostRestarts} restarts, the first server is still the wrong one for this point`,
      );
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
