import { join } from 'node:path';
import { type Db, MongoClient } from 'mongodb';
import { readConfig } from '../../../server/platform/config/config.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import type * as built from '../../../server/process/start.ts';
import { isLoopbackAddress } from '../../../server/webhooks/egress/destination.ts';
import { createPost } from '../../../server/webhooks/egress/post.ts';
import { certificate } from '../../../test/webhooks/certificate.ts';
import { type Owner, openPartners } from '../../contenders/our-partners.ts';
import { freePort, root, temporaryDirectory } from '../../processes.ts';
import { draftOf, publishDue } from '../deliveries.ts';
import type { QueuedEvent } from './events.ts';
import { serveQueue } from './program.ts';
import { receiverUrl } from './receivers.ts';

/** A program: our server as it is built, without its public listener. It publishes as its features do, and one partner has each endpoint. */
const rules = { localhostAllowed: true, ownPorts: () => [] };
/** The https endpoints have a public name, which leads to this machine. */
const route = { resolve: () => Promise.resolve(['127.0.0.1']), allowed: isLoopbackAddress };
let db: Db;
let server: built.RunningServer;
let owners: readonly Owner[];

const ownerOf = ({ endpoint }: QueuedEvent): Owner => {
  const owner = owners[endpoint];
  if (!owner) throw new Error(`endpoint ${endpoint} has no partner`);
  return owner;
};

serveQueue({
  async start({ uri, origins, endpoints, secrets, isFirst }) {
    const config = readConfig({
      MONGODB_URI: uri,
      SVC_ENVIRONMENT: 'development',
      SVC_ROLES: 'admin,worker',
      SVC_PORT: String(await freePort()),
      SVC_ADMIN_PORT: String(await freePort()),
      SVC_DATA_DIR: temporaryDirectory(),
      SVC_MASTER_KEY: secrets.masterKey,
      SVC_ADMIN_TOKEN: secrets.adminToken,
      SVC_LOCALHOST_WEBHOOKS: 'on',
      SVC_LOG_LEVEL: 'error',
    });
    // The built server, because only its folder has the files of pages.
    const { startServer } = (await import(join(root, 'dist/server/process/start.js'))) as typeof built;
    const post = createPost({ rules, route, ca: certificate });
    server = await startServer(config, createLogger('error'), {
      foundation: () => ({ webhooks: { wrap: (parts) => ({ ...parts, post }) } }),
    });
    db = (await MongoClient.connect(uri)).db();
    if (!isFirst) return;
    const admin = { url: `http://127.0.0.1:${config.admin.port}`, token: secrets.adminToken };
    const webhook = (n: number) => receiverUrl(origins, n, endpoints).href;
    owners = (await openPartners(admin, { many: endpoints, webhook })).many;
  },
  async add(events, dueAt) {
    const drafts = events.map((event) => draftOf(ownerOf(event), event));
    if (dueAt) await publishDue(db, drafts, dueAt);
    else await server.services.webhooks.publish(drafts);
  },
});
