// A program: the server of server/main.ts with its stores wrapped in kill points. SVC_FAULT names those that may be
// armed, for instance `page:before,page:after`; the suite arms one of them. Loading and starting are two steps, so that
// a restart is quick.
import net from 'node:net';
import { createStores } from '../../../server/operations/stores.ts';
import { readConfig } from '../../../server/platform/config/config.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { type RunningServer, startServer } from '../../../server/process/start.ts';
import { createKillPoints } from './kill-points.ts';
import type { Order, Report } from './orders.ts';
import { watchAnswers, watchHandOvers, wrapBilling, wrapVerification, wrapWebhooks } from './wrapping.ts';

/** Resolves when the report is sent. After the suite has ended, no report is needed. */
const send = (report: Report['report']): Promise<void> =>
  new Promise((resolve) => {
    if (process.send) process.send({ report } satisfies Report, undefined, undefined, () => resolve());
    else resolve();
  });
const milliseconds = (name: string): number => Number(process.env[name]);

const config = readConfig(process.env);
const logger = createLogger(config.logLevel);
const names = new Set(process.env['SVC_FAULT']?.split(','));
let clockOffBy = 0;
const killPoints = createKillPoints(
  names,
  () => send('fired'),
  () => {
    clockOffBy = 3_600_000;
  },
);
let server: RunningServer | undefined;
let maySweep = false;

/** The wall clock of this process can be set, and a proxy is used for another's private listener. */
function prepareNetworkAndClock(): void {
  const now = Date.now;
  Date.now = () => now() + clockOffBy;
  const [listener, proxy] = (process.env['SVC_FAULT_REROUTE'] ?? '').split('>').map(Number);
  if (listener === undefined || proxy === undefined) return;
  const { connect } = net;
  net.connect = ((options: net.TcpNetConnectOpts, ...rest: []) => {
    const isRerouted = typeof options === 'object' && Number(options.port) === listener;
    return connect(isRerouted ? { ...options, port: proxy } : options, ...rest);
  }) as typeof net.connect;
}

async function start(): Promise<void> {
  prepareNetworkAndClock();
  watchAnswers(killPoints.at);
  watchHandOvers(killPoints.at);
  server = await startServer(config, logger, {
    foundation: ({ db }) => {
      const stores = createStores(db);
      const sweeping = {
        sweptEarlier: milliseconds('SVC_FAULT_SWEPT_EARLIER'),
        maySweep: () => maySweep,
      };
      return {
        stores: {
          ...stores,
          billing: wrapBilling(stores.billing, killPoints.at, sweeping),
          verification: wrapVerification(stores.verification, killPoints.at, sweeping),
        },
        webhooks: {
          wrap: (parts) => wrapWebhooks(parts, killPoints.at),
          budget: milliseconds('SVC_FAULT_ATTEMPT_BUDGET'),
          leaseTime: milliseconds('SVC_FAULT_LEASE_TIME'),
        },
      };
    },
  });
  await send('start');
}

async function stop(): Promise<void> {
  killPoints.terminating();
  await server?.stop();
  process.exit(0);
}

async function refresh(): Promise<void> {
  await server?.services.billing.handOver?.refresh();
  await send('refresh');
}

/** Runs every sweep, also one whose look finds nothing: the looks do not know that the stores give work out earlier. */
async function sweepOnce({ sweep: sweepAll, services }: RunningServer): Promise<void> {
  await sweepAll();
  // A sweep may fail while the database is away. The suite asks for sweeps until the work is done.
  for (const each of services.sweeps) await each.sweep().catch(() => undefined);
}

async function sweep(times: number): Promise<void> {
  maySweep = true;
  await Promise.all(Array.from({ length: times }, async () => server && sweepOnce(server)));
  await send('sweep');
}

process.on('message', (message: Order) => {
  switch (message.order) {
    case 'start':
      void start();
      return;
    case 'arm':
      killPoints.arm(message.fault);
      void send('arm');
      return;
    case 'refresh':
      void refresh();
      return;
    case 'sweep':
      void sweep(message.times);
      return;
  }
});
process.on('SIGTERM', () => void stop());
// The suite has ended in any way.
process.on('disconnect', () => process.exit(1));
void send('loaded');
