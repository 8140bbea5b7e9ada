import { Mode } from '../../contracts/identifiers.ts';
import { walletIdOf } from '../billing/ledger/ledger-page.ts';
import type { Stores } from './stores.ts';

type Owned = { partnerId?: string } | null | undefined;
type Find = (id: string) => Promise<Owned>;

/** Returns a function that finds the first id that is no record of a partner. Members may name only records of their partner. */
export function createOwnRecords(stores: Stores, clock: { now(): number }) {
  const { partners, verification, webhooks, billing, admin, members, warnings } = stores;

  const finds = {
    apiKey: partners.keys.find,
    client: partners.clients.find,
    integration: partners.integrations.find,
    session: verification.sessions.find,
    enrollment: verification.enrollments.find,
    event: webhooks.events.find,
    // A job of an operator may be about all partners. It then belongs to none of them.
    bulkJob: async (id) => {
      const { partnerId } = (await webhooks.bulk.find(id))?.filter ?? {};
      return partnerId === undefined ? undefined : { partnerId };
    },
    request: (id) => admin.requests.find(id, new Date(clock.now())),
    member: members.members.find,
    auditEntry: admin.audit.find,
    warning: async (id) => (await warnings.warnings.findAll([id]))[0],
  } satisfies Record<string, Find>;

  async function hasEntry(partnerId: string, id: string): Promise<boolean> {
    const keys = Mode.options.map((mode) => ({ walletId: walletIdOf(partnerId, mode), id }));
    return (await billing.ledger.existing(keys)).size > 0;
  }

  /** Deliveries are the only records of which one call may name many, so they are read together. */
  async function findForeignDelivery(ids: readonly string[], partnerId: string): Promise<string | undefined> {
    const found = await webhooks.deliveryQueries.findAll(ids);
    return ids.find((id) => found.get(id)?.partnerId !== partnerId);
  }

  async function isOwn(kind: keyof typeof finds | 'partner' | 'entry', id: string, partnerId: string) {
    if (kind === 'partner') return id === partnerId;
    if (kind === 'entry') return hasEntry(partnerId, id);
    return (await finds[kind](id))?.partnerId === partnerId;
  }

  return async (
    kind: Parameters<typeof isOwn>[0] | 'delivery',
    ids: readonly string[],
    partnerId: string,
  ) => {
    if (kind === 'delivery') return findForeignDelivery(ids, partnerId);
    for (const id of ids) if (!(await isOwn(kind, id, partnerId))) return id;
    return undefined;
  };
}
