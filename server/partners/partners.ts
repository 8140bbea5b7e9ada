import type { ListPartners, PartnerStatus } from '../../contracts/admin/partners.ts';
import type { Total } from '../../contracts/admin/references.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { createAuditedChange } from '../platform/database/audited-change.ts';
import { ApiError } from '../platform/errors.ts';
import { randomId } from '../platform/ids.ts';
import type { Directory } from './directory.ts';
import type { Partner, PartnerStore } from './partner-store.ts';

interface Dependencies {
  store: PartnerStore;
  clock: Pick<Clock, 'now'>;
  /** Creates the test wallet and the live wallet of a partner. Idempotent. */
  openWallets: (partnerId: string) => Promise<void>;
  directory: Pick<Directory, 'changed'>;
  /** Called after a partner was suspended. Idempotent. */
  onSuspended: (partnerId: string) => Promise<void>;
}

export type Partners = ReturnType<typeof createPartners>;

/** Manages partners. A partner is `pending` until it is activated, then `active` or `suspended`. The methods throw ApiError. */
export function createPartners({ store, clock, openWallets, directory, onSuspended }: Dependencies) {
  const change = createAuditedChange(store, clock);

  async function setStatus(partnerId: string, to: PartnerStatus, actor: Actor): Promise<Partner> {
    const partner = await change(partnerId, actor, ({ status }) => {
      if (status === to) return undefined;
      if (to === 'suspended' && status === 'pending') {
        throw new ApiError('conflict', {
          description: 'A pending partner cannot be suspended: it was never activated',
        });
      }
      return { set: { status: to }, before: { status }, after: { status: to } };
    });
    // These steps also run if the status was the same: a repeated call completes one that was interrupted.
    await directory.changed(partnerId);
    if (to === 'suspended') await onSuspended(partnerId);
    return partner;
  }

  return {
    async create(name: string, actor: Actor): Promise<Partner> {
      const now = clock.now();
      const id = randomId('partner');
      // The wallets come first: a crash in between leaves two wallets without a partner, but no partner without wallets.
      await openWallets(id);
      const entry = auditEntry(actor, { id, at: now }, { after: { name, status: 'pending' } });
      return store.insert({ _id: id, name, status: 'pending', createdAt: new Date(now) }, entry);
    },

    show: (partnerId: string): Promise<Partner> => store.get(partnerId),

    /** Sets the price of one billable event of a kind for this partner, in cents. */
    async setPrice(
      partnerId: string,
      { kind, cents }: { kind: keyof NonNullable<Partner['prices']>; cents: number },
      actor: Actor,
    ): Promise<Partner> {
      const partner = await change(partnerId, actor, ({ prices: before = {} }) => {
        const after = { ...before, [kind]: cents };
        return { set: { prices: after }, before, after };
      });
      await directory.changed(partnerId);
      return partner;
    },

    list: ({ status, ...page }: ListPartners): Promise<Partner[]> => store.list({ status }, page),
    count: ({ status }: Pick<ListPartners, 'status'>): Promise<Total> => store.count({ status }),
    activate: (partnerId: string, actor: Actor): Promise<Partner> => setStatus(partnerId, 'active', actor),
    suspend: (partnerId: string, actor: Actor): Promise<Partner> => setStatus(partnerId, 'suspended', actor),
  };
}
