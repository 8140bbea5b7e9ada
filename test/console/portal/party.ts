import { expect, vi } from 'vitest';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { OwnedKind } from '../../../server/console/portal/calls/scope.ts';
import { call, codeFor, createShop, fields, type Shop, sign } from '../../api/storefront/shop.ts';
import type { ManualClock, TestServer } from '../../harness/server.ts';
import { roles } from './scope-table.ts';
import { type SignedInMember, signedIn } from './signed-in.ts';

type Ids = Record<OwnedKind, string>;
export interface Party {
  shop: Shop;
  ids: Ids;
  members: Record<MemberRole, SignedInMember & { token: string }>;
}

/** A partner with a record of every kind, and a member with every role. */
export async function createParty(server: TestServer, clock: ManualClock): Promise<Party> {
  const { admin, db } = server;
  const shop = await createShop(server);
  const { partnerId, keyId, clientId, integrationId } = shop;
  await admin.webhooks.set.mutate({ keyId, url: 'http://localhost:9/hooks' });
  const body = JSON.stringify(fields(await codeFor(server, shop)));
  expect((await call(server, body, sign(shop, body, clock.now()))).status).toBe(200);
  const idIn = async (collection: string, filter = {}) =>
    String((await db.collection(collection).findOne({ partnerId, ...filter }))?._id);
  for (const name of ['requestLog', 'events', 'deliveries'])
    await vi.waitFor(async () => expect(await db.collection(name).findOne({ partnerId })).not.toBeNull());
  const { entries } = await admin.wallets.statement.query({ partnerId, mode: 'test' });
  const since = new Date(clock.now() - 60_000).toISOString();
  clock.advance(1_000);
  // Another URL, because events whose delivery to the webhook URL is pending are left out.
  const replay = {
    action: 'replay' as const,
    filter: { partnerId, keyId, since },
    to: 'http://localhost:9/again',
  };
  const { job } = await admin.bulk.start.mutate(replay);
  const warning = {
    ...{ _id: `${partnerId}/low`, partnerId, mode: 'test', kind: 'cap_reached', about: 'test', text: 'Met' },
    ...{ raisedAt: new Date(), since: new Date() },
  };
  await db.collection<{ _id: string }>('warnings').insertOne(warning);
  const members = {} as Party['members'];
  for (const role of roles) {
    const member = await signedIn(server, partnerId, role);
    members[role] = { ...member, token: await member.csrf() };
  }
  const [act] = await members.owner.api.members.acts.query({ partnerId });
  const ids = {
    auditEntry: act?.id ?? '',
    ...{ partner: partnerId, apiKey: keyId, client: clientId, integration: integrationId },
    ...{ session: await idIn('sessions'), enrollment: await idIn('enrollments') },
    ...{ event: await idIn('events'), delivery: await idIn('deliveries'), bulkJob: job?.id ?? '' },
    ...{ entry: entries[0]?.id ?? '', request: await idIn('requestLog'), warning: warning._id },
    member: members.viewer.id,
  };
  for (const id of Object.values(ids)) expect(id.length).toBeGreaterThan(20);
  return { shop, ids, members };
}
