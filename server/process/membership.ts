import type { Billing } from '../billing/feature.ts';
import type { Clock } from '../platform/clock.ts';
import { everyInterface, isPrivateHost } from '../platform/config/admin-host.ts';
import type { Config } from '../platform/config/config.ts';
import { addressTowards } from '../platform/config/own-address.ts';
import type { Database } from '../platform/database/connect.ts';
import { hostInUrl } from '../platform/http/listen.ts';
import type { Background } from '../platform/jobs/background.ts';
import { joinAloneEvery, joinEvery, type Processes } from '../platform/jobs/processes.ts';
import { createSweeper } from '../platform/jobs/sweeper.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createPeerApp } from './app.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Listeners } from './listeners.ts';

interface Dependencies extends Pick<Lifecycle, 'isStopping' | 'outdated'> {
  config: Config;
  client: Pick<Database['client'], 'options'>;
  clock: Pick<Clock, 'trusted'>;
  background: Background;
  processes: Pick<Processes, 'join' | 'resign'>;
  billing: Pick<Billing, 'handOver'>;
  logger: Logger;
  serve: Listeners['serve'];
}

/** Makes the part of this process in hand-overs: its private listener, its heartbeat, and its view of the other processes. */
export function createMembership(dependencies: Dependencies) {
  const { config, client, clock, background, processes, billing, logger } = dependencies;
  const { isStopping, outdated, serve } = dependencies;
  /** The private address of this process. Undefined if it takes no postings. */
  let address: string | undefined;

  async function announce(): Promise<void> {
    // A process without a trusted clock refuses postings, so it must not ask for them.
    const canTakePostings = !isStopping() && outdated() === undefined && clock.trusted();
    if (address !== undefined && canTakePostings) await processes.join(address);
  }

  async function refresh(): Promise<void> {
    const others = await billing.handOver?.refresh();
    if (others) await announce();
  }

  const announcer = createSweeper([{ name: 'listener', sweep: announce }], {
    ...{ background, logger },
    every: joinAloneEvery,
  });
  const refresher = createSweeper([{ name: 'peers', sweep: refresh }], {
    ...{ background, logger },
    every: joinEvery,
  });

  async function sweep(): Promise<void> {
    await announcer.sweep();
    await refresher.sweep();
  }

  /** Returns the address of this machine in the network of the database. */
  async function ownAddress(): Promise<string> {
    const { host = '127.0.0.1', port = 27_017 } = client.options.hosts[0] ?? {};
    return addressTowards(host, port);
  }

  async function listen(): Promise<void> {
    const { peer, roles } = config;
    if (!billing.handOver || !peer || !roles.has('api')) return;
    // Other processes need one address of this machine, also if the listener is open on every interface.
    const reachableHost = peer.host && !everyInterface.includes(peer.host) ? peer.host : await ownAddress();
    if (peer.host === undefined && !isPrivateHost(reachableHost) && !config.peerAllowsPublic) {
      logger.warn(
        { address: reachableHost },
        'this process takes no hand-overs, because its own address is public; set SVC_PEER_ADDRESS to a private one',
      );
      return;
    }
    const variables = { host: 'SVC_PEER_ADDRESS', port: 'SVC_PEER_ADDRESS' };
    const app = createPeerApp(billing.handOver.routes, { logger, isStopping, closed: outdated });
    const url = new URL(await serve(app, { host: peer.host ?? reachableHost, port: peer.port, variables }));
    address = `${hostInUrl(reachableHost)}:${url.port}`;
    logger.info({ address }, 'other processes hand over to this one at its private address');
  }

  return {
    /** Opens the private listener, if this process writes for others. @throws StartFault if its address cannot be used */
    listen,

    /** Tells the address of the private listener. From now on, other processes can hand over to this one. */
    async join(): Promise<void> {
      await announcer.start();
      await refresher.start();
    },

    sweep,

    /** Asks other processes to hand over nothing more to this process. Postings that still arrive are taken. */
    async leave(): Promise<void> {
      await Promise.all([announcer.stop(), refresher.stop()]);
      // If this fails, the other processes forget this one when its last heartbeat is old.
      await processes.resign().catch(() => undefined);
    },
  };
}
