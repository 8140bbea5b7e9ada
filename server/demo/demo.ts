import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type FastifyBaseLogger, fastify } from 'fastify';
import { createAccount } from './account.ts';
import type { AdminApi } from './admin-api.ts';
import { createPublicApi } from './exchange.ts';
import { createPages } from './pages.ts';
import { startReceiver } from './receiver.ts';
import { demoRoutes } from './routes.ts';
import { createVerifications } from './verification-client.ts';

interface Settings {
  port: number;
  /** Where the service is, as partners know it. */
  baseUrl: string;
  /** With the rights of this machine's operator. */
  admin: AdminApi;
  /** Where the demo keeps what its partner was given. */
  dataDir: string;
  logger: FastifyBaseLogger;
}

export interface Demo {
  /** Address of the shop. */
  url: string;
  close(): Promise<void>;
}

function portOfLastTime(file: string): number {
  try {
    const { webhookUrl } = JSON.parse(readFileSync(file, 'utf8')) as { webhookUrl?: string };
    return webhookUrl ? Number(new URL(webhookUrl).port) : 0;
  } catch {
    return 0;
  }
}

/**
 * A small shop that verifies the age of its visitors: a partner of this service as any other, on ports of its
 * own. It speaks the public API; the admin API stands in for support, which would set a partner up.
 * @throws where its port is taken
 */
export async function startDemo(settings: Settings): Promise<Demo> {
  const { port, baseUrl, admin, dataDir, logger } = settings;
  const app = fastify({ loggerInstance: logger, forceCloseConnections: 'idle' });
  const file = join(dataDir, 'demo.json');
  const receiver = await startReceiver(portOfLastTime(file), () => account.signingSecret());
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
  const { port: actual } = app.server.address() as AddressInfo;
  if (actual !== port) throw new Error('the demo needs a fixed port');

  return {
    url,
    async close() {
      await Promise.all([app.close(), receiver.close()]);
    },
  };
}
