import { join } from 'node:path';
import { type FastifyBaseLogger, fastify } from 'fastify';
import { createAccount, readAccount } from './account.ts';
import type { AdminApi } from './admin-api.ts';
import { createPublicApi } from './exchange.ts';
import { createPages } from './pages.ts';
import { startReceiver } from './receiver.ts';
import { demoRoutes } from './routes.ts';
import { createVerifications } from './verification-client.ts';

interface Settings {
  /** The port of the shop. It cannot be 0 (any free port), because the redirect URI names the port before it is opened. */
  port: number;
  baseUrl: string;
  /** A client of the admin API with the first operator's token. */
  admin: AdminApi;
  /** The directory in which the demo keeps its partner's credentials. */
  dataDir: string;
  logger: FastifyBaseLogger;
}

export interface Demo {
  url: string;
  close(): Promise<void>;
}

/**
 * Returns the port of the receiver in the last run, so that the webhook URL can stay the same. Without a last run, returns 0,
 * which means any free port.
 */
function lastReceiverPort(file: string): number {
  const { webhookUrl } = readAccount(file);
  return webhookUrl ? Number(new URL(webhookUrl).port) : 0;
}

/**
 * Starts a small shop that verifies the age of its visitors. It is a normal partner of this service, on separate ports, and uses
 * the public API. It uses the admin API only to set up its account, which operators do for other partners.
 * @throws Error if the port is taken
 */
export async function startDemo(settings: Settings): Promise<Demo> {
  const { port, baseUrl, admin, dataDir, logger } = settings;
  if (port === 0) throw new Error('the demo needs a fixed port');
  const app = fastify({ loggerInstance: logger, forceCloseConnections: 'idle' });
  const file = join(dataDir, 'demo.json');
  // The account needs the receiver's port. The receiver reads the account's secret later, when an event arrives.
  const receiver = await startReceiver(lastReceiverPort(file), () => account.signingSecret());
  const url = `http://localhost:${port}`;
  const account = createAccount({
    file,
    admin,
    redirectUri: `${url}/callback`,
    webhookUrl: `http://localhost:${receiver.port}/webhooks`,
  });
  const verifications = createVerifications({
    account,
    api: createPublicApi(baseUrl),
    receiver,
    issuer: baseUrl,
  });
  try {
    await app.register(demoRoutes({ verifications, account, pages: createPages(baseUrl), baseUrl, url }));
    await app.listen({ host: '127.0.0.1', port });
  } catch (error) {
    await receiver.close();
    throw error;
  }

  return {
    url,
    async close() {
      await Promise.all([app.close(), receiver.close()]);
    },
  };
}
