// A program: the server of server/main.ts with its stores wrapped in fault points. SVC_FAULT names those where it can
// be struck, for instance `commit:before,commit:after`; the suite arms one of them. Loaded and started apart, so that a
// restart is quick.
import { readConfig } from '../../server/platform/config.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { createStores } from '../../server/services.ts';
import { type RunningServer, startServer } from '../../server/start.ts';
import { createFault } from './fault.ts';
import type { Order, Report } from './orders.ts';
import { watchAnswers, wrapBilling, wrapWebhooks } from './wrapping.ts';

const tell = (report: Report['report']): void => {
  // A suite that has ended needs no reports.
  process.send?.({ report } satisfies Report, undefined, undefined, () => undefined);
};
const milliseconds = (name: string): number => Number(process.env[name]);

const config = readConfig(process.env);
const logger = createLogger(config.logLevel);
const points = new Set(process.env['SVC_FAULT']?.split(','));
const fault = createFault(points, () => tell('fired'));
let server: RunningServer | undefined;

async function start(): Promise<void> {
  watchAnswers(fault.at);
  server = await startServer(config, logger, {
    foundation: ({ db }) => {
      const stores = createStores(db);
      return {
        stores: { ...stores, billing: wrapBilling(stores.billing, fault.at) },
        holdLifetime: milliseconds('SVC_FAULT_HOLD_LIFETIME'),
        webhooks: {
          wrap: (parts) => wrapWebhooks(parts, fault.at),
          budget: milliseconds('SVC_FAULT_ATTEMPT_BUDGET'),
          leaseTime: milliseconds('SVC_FAULT_LEASE_TIME'),
        },
      };
    },
  });
  tell('start');
}

async function stop(): Promise<void> {
  fault.terminating();
  await server?.stop();
  process.exit(0);
}

async function sweep(times: number): Promise<void> {
  await Promise.all(Array.from({ length: times }, async () => server?.sweep()));
  tell('sweep');
}

process.on('message', (message: Order) => {
  switch (message.order) {
    case 'start':
      void start();
      return;
    case 'arm':
      fault.arm(message.fault);
      tell('arm');
      return;
    case 'sweep':
      void sweep(message.times);
      return;
  }
});
process.on('SIGTERM', () => void stop());
// The suite ended, however it did.
process.on('disconnect', () => process.exit(1));
tell('loaded');
