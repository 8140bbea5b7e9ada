import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Document } from 'mongodb';
import { createPartner, exchangeCode, type Server, verifyUser } from '../../harness/partner.ts';
import { within } from '../../harness/time-limits.ts';
import type { Templates } from './build.ts';

/** Lets the service create one document of each kind, by two sessions of a user and one exchange. */
export async function makeTemplates(
  server: Server,
  db: Db,
): Promise<{ templates: Templates; entryId: string }> {
  const partner = await createPartner(server);
  const { partnerId, keyId, clientId } = partner;
  await server.admin.webhooks.set.mutate({ keyId, url: 'http://localhost:9/hooks' });
  await verifyUser(server, partner);
  const answer = await exchangeCode(server, partner, await verifyUser(server, partner));
  if (answer.status !== 200) throw new Error(`the exchange answered ${answer.status}`);
  const { entries } = await server.admin.wallets.statement.query({ partnerId, mode: 'test' });
  const entryId = entries.find(({ kind }) => kind === 'token')?.id ?? '';

  /** Waits for a document, because background work writes some documents seconds later. */
  async function waitForOne(collection: string, filter: Document = {}): Promise<Document> {
    for (const deadline = Date.now() + within(10_000); Date.now() < deadline; ) {
      const found = await db.collection(collection).findOne(filter);
      if (found) return found;
      await sleep(100);
    }
    throw new Error(`nothing in ${collection}`);
  }
  return {
    entryId,
    templates: {
      partner: await waitForOne('partners', { _id: partnerId }),
      key: await waitForOne('apiKeys', { _id: keyId }),
      client: await waitForOne('clients', { _id: clientId }),
      session: await waitForOne('sessions', { status: 'complete', 'outbox.0': { $exists: false } }),
      enrollment: await waitForOne('enrollments'),
      user: await waitForOne('users', { claims: { $exists: true } }),
      event: await waitForOne('events', { type: 'vae.resolved' }),
      delivery: await waitForOne('deliveries', { type: 'vae.resolved' }),
      request: await waitForOne('requestLog', { sessionId: { $exists: true } }),
      audit: await waitForOne('auditLog'),
    },
  };
}
