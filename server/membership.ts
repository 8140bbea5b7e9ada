import { createPeerApp } from './app.ts';
import type { Billing } from './billing/feature.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config/config.ts';
import { addressTowards } from './platform/config/own-address.ts';
import type { Database } from './platform/database/connect.ts';
import type { Address } from './platform/http/listen.ts';
import type { HttpServer } from './platform/http/server.ts';
import { joinEvery, type Processes } from './platform/jobs/processes.ts';
import { createSweeper } from './platform/jobs/sweeper.ts';
import type { Logger } from './platform/telemetry/logging.ts';

interface Dependencies {
  config: Config;
  client: Pick<Database['client'], 'options'>;
  clock: Pick<Clock, 'trusted'>;
  processes: Pick<Processes, 'join' | 'resign'>;
  billing: Pick<Billing, 'handOver'>;
  logger: Logger;
  isStopping: () => boolean;
  /** Why this build must not use the database; undefined where it may. */
  outdated: () => string | undefined;
  /** Opens a listener. @returns its URL */
  serve: (app: Promise<HttpServer>, address: Address) => Promise<string>;
}

const everywhere = ['0.0.0.0', '::'];

/** The part that this process has in hand-overs: its private listener, its heartbeat, and its view of the others. */
export function createMembership(dependencies: Dependencies) {
  const { config, client, clock, processes, billing, logger, isStopping, outdated, serve } = dependencies;
  /** Where others reach this process; undefined where it takes nothing. */
  let address: string | undefined;

  async function keep(): Promise<void> {
    const takes = !isStopping() && outdated() === undefined && clock.trusted();
    if (address !== undefined && takes) await processes.join(address);
    await billing.handOver?.refresh();
  }
  const sweeper = createSweeper([{ name: 'peers', sweep: keep }], logger, joinEvery);

  /** The address of this machine in the network of its database. */
  async function ownAddress(): Promise<string> {
    const { host = '127.0.0.1', port = 27_017 } = client.options.hosts[0] ?? {};
    return addressTowards(host, port);
  }

  /** Opens the private listener, where this process writes for others. */
  async function listen(): Promise<void> {
    const { peer, roles } = config;
    if (!billing.handOver || !peer || !roles.has('api')) return;
    const known = peer.host !== undefined && !everywhere.includes(peer.host) ? peer.host : undefined;
    const own = known ?? (await ownAddress());
    const variables = { host: 'SVC_PEER_ADDRESS', port: 'SVC_PEER_ADDRESS' };
    const app = createPeerApp(billing.handOver.routes, { logger, isStopping, closed: outdated });
    const url = new URL(await serve(app, { host: peer.host ?? own, port: peer.port, variables }));
    address = `${own.includes(':') ? `[${own}]` : own}:${url.port}`;
    logger.info({ address }, 'other processes hand over to this one at its private address');
  }

  return {
    /** Other processes can hand over to this one from now on. */
    async join(): Promise<void> {
      await listen();
      await sweeper.sweep();
      sweeper.start();
    },

    sweep: sweeper.sweep,

    /** From now on, nothing more is handed over to this process. What comes nevertheless is taken. */
    async leave(): Promise<void> {
      await sweeper.stop();
      await processes.resign().catch(() => undefined);
    },
  };
}
