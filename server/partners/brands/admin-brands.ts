import { z } from 'zod';
import {
  BrandReference,
  BrandRequest,
  ListBrands,
  RefuseBrand,
  WaitingBrand,
} from '../../../contracts/admin/brands.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { withPartnerName } from '../../platform/database/partner-names.ts';
import type { AuditedRecord } from '../../platform/database/records.ts';
import type { Client } from '../clients/client-store.ts';
import type { PartnersContext } from '../context.ts';
import { createCachedChange } from '../directory/directory.ts';
import type { Partner } from '../partner-store.ts';
import { presentValues, storedForm } from '../settings.ts';
import { type Branded, requireWaiting, storedRequest } from './brand-requests.ts';
import type { LogoStore } from './logo-store.ts';

const brandMutation = mutation({ target: 'brandId', record: 'several' });

const picturesOf = (partner: Branded | undefined): string[] =>
  [
    partner?.logo,
    partner?.brandRequest?.status === 'waiting' ? partner.brandRequest.changes.logo : null,
  ].flatMap((id) => id ?? []);

/** Deletes the pictures that a partner does not show any more after a change. */
export async function removeUnused(
  logos: Pick<LogoStore, 'remove'>,
  before: Branded | undefined,
  after: Branded,
): Promise<void> {
  const kept = picturesOf(after);
  for (const id of picturesOf(before)) if (!kept.includes(id)) await logos.remove(id);
}

/** Makes the procedures of `svcadmin brands`, by which operators decide about changes of live brands that members asked for. */
export function createBrandProcedures(context: PartnersContext) {
  const { stores, clock, directory, partnerNames, logoAddress, onBrandDecided } = context;
  const { clients, partners, logos } = stores;
  const changeClient = createCachedChange(clients, clock, directory);
  const changePartner = createCachedChange(partners, clock, directory);
  const isPartner = (id: string) => id.startsWith('ptr_');

  function viewWaiting(record: Client | Partner): Omit<WaitingBrand, 'partnerName'>[] {
    const { _id: id, brandRequest } = record;
    if (!brandRequest) return [];
    const { changes, requestedAt, requestedBy } = brandRequest;
    return [
      {
        id,
        partnerId: 'partnerId' in record ? record.partnerId : id,
        present: presentValues(record, changes),
        changes,
        logoUrl: changes.logo ? logoAddress(changes.logo) : null,
        requestedAt: requestedAt.toISOString(),
        requestedBy,
      },
    ];
  }

  /** Ends a waiting request of a client or a partner. @param outcome what becomes of the record */
  async function decide(
    { brandId, requestedAt }: { brandId: string; requestedAt?: string | undefined },
    actor: Actor,
    outcome: { reason?: string },
  ): Promise<BrandRequest> {
    let before: Branded = {};
    let decided: BrandRequest | undefined;
    const { reason } = outcome;
    const decideOn = (current: Branded & AuditedRecord) => {
      before = current;
      const request = requireWaiting(current, brandId, requestedAt);
      decided = viewAs(BrandRequest, { ...request, reason });
      const present = presentValues(current, request.changes);
      if (reason !== undefined)
        return {
          set: storedRequest({ ...request, status: 'refused', reason }),
          before: present,
          after: { refused: request.changes, reason },
        };
      return {
        set: { ...storedForm(request.changes), ...storedRequest(undefined) },
        before: present,
        after: request.changes,
      };
    };
    const after: Client | Partner = isPartner(brandId)
      ? await changePartner(brandId, actor, decideOn)
      : await changeClient(brandId, actor, decideOn);
    if (isPartner(brandId)) await removeUnused(logos, before, after);
    if (!decided) throw new Error('a change without a decision');
    const partnerId = 'partnerId' in after ? after.partnerId : after._id;
    await onBrandDecided({ id: brandId, partnerId, memberId: decided.requestedBy, reason });
    return decided;
  }

  return router({
    /** The changes that wait, the longest waiting first. */
    list: query(ListBrands, z.array(WaitingBrand), async ({ partnerId, limit, after }) => {
      const last = after === undefined ? undefined : await (isPartner(after) ? partners : clients).get(after);
      const page = { limit, after: last };
      const found = await Promise.all([
        clients.brandsWaiting(partnerId, page),
        partners.brandsWaiting(partnerId, page),
      ]);
      const rows = found
        .flat()
        .flatMap(viewWaiting)
        .toSorted((a, b) => a.requestedAt.localeCompare(b.requestedAt) || a.id.localeCompare(b.id));
      return withPartnerName(rows.slice(0, limit), partnerNames);
    }),

    show: query(BrandReference, WaitingBrand, async ({ brandId, requestedAt }) => {
      const record = await (isPartner(brandId) ? partners : clients).get(brandId);
      requireWaiting(record, brandId, requestedAt);
      const [waiting] = await withPartnerName(viewWaiting(record), partnerNames);
      if (!waiting) throw new Error('a request without a view');
      return waiting;
    }),

    /** Puts a waiting change on the live pages. */
    approve: brandMutation(BrandReference, BrandRequest, (input, actor) => decide(input, actor, {})),

    /** Refuses a waiting change. The members of the partner see the reason. */
    refuse: brandMutation(RefuseBrand, BrandRequest, ({ reason, ...input }, actor) =>
      decide(input, actor, { reason }),
    ),
  });
}
