import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  ActivatePartner,
  ClosePartner,
  CreatePartner,
  FoundPartner,
  ListPartners,
  PartnerReference,
  PartnerView,
  PlannedPartner,
  SearchPartners,
  SetLogo,
  UpdatePartner,
} from '../../contracts/admin/partners.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { type BillableKind, pricesAt } from '../../contracts/charge.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { whoMay } from '../platform/admin-api/roles.ts';
import { type Actor, auditEntry } from '../platform/database/audit/audit-entry.ts';
import { givenFields } from '../platform/database/reads/look-through.ts';
import { ApiError } from '../platform/errors.ts';
import { randomId } from '../platform/ids.ts';
import { removeUnused } from './brands/admin-brands.ts';
import { needsApproval, requestBrand, storedRequest } from './brands/brand-requests.ts';
import { createLogoMaking } from './brands/logo-making.ts';
import { assertRedirectUris } from './clients/admin-clients.ts';
import type { PartnersContext } from './context.ts';
import { createCachedChange } from './directory/directory.ts';
import { changeDetails } from './partner-details.ts';
import { changedPrices } from './partner-prices.ts';
import { type Partner, collection as partnerCollection, statusOf, withStatus } from './partner-store.ts';
import { isLastFour } from './search-store.ts';
import { viewPartner } from './views.ts';

const partnerMutation = mutation({ target: 'partnerId', record: partnerCollection });

/** How many logos a partner may upload in a minute. Each costs up to some seconds of a processor. */
const logosPerMinute = 10;

/** Orders partners as in other lists. Partners that were created at the same time are ordered by their ids. */
const newestFirst = (a: Partner, b: Partner): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a._id < b._id ? 1 : -1);

/** Manages partners. A partner is `pending` until it is activated, then `active`, `suspended` or `closed`. */
export function createPartners(context: PartnersContext) {
  const { stores, findReplaced, limit, clock, openWallets, directory } = context;
  const { assertWebhookUrl, onSuspended } = context;
  const { partners: store, logos, search } = stores;
  const makeLogo = createLogoMaking();
  const change = createCachedChange(store, clock, directory);

  /**
   * @param by.mayBegin whether the operator may activate a partner for the first time, or one that was closed
   * @param by.isClosing whether the partner is suspended for good
   */
  async function setStatus(
    partnerId: string,
    to: Partner['status'],
    by: { actor: Actor; reason?: string | undefined; mayBegin?: boolean; isClosing?: boolean },
  ): Promise<PartnerView> {
    const { actor, reason, mayBegin = true, isClosing = false } = by;
    const partner = await change(partnerId, actor, (current, now) => {
      const { status, closedAt } = current;
      if (status === to && (!isClosing || closedAt)) return undefined;
      if ((status === 'pending' || closedAt) && !mayBegin)
        throw new ApiError('not_permitted', {
          description: `The role ops activates suspended partners only, and no closed one; ${whoMay('partners.activate')} may activate this one`,
        });
      if (to === 'suspended' && status === 'pending' && !isClosing) {
        throw new ApiError('conflict', {
          description: 'A pending partner cannot be suspended: it was never activated',
        });
      }
      return {
        set: { status: to, closedAt: isClosing ? new Date(now) : undefined },
        before: { status: statusOf(current), ...givenFields({ closedAt }) },
        after: {
          ...(isClosing ? { status: 'closed', closedAt: new Date(now) } : { status: to }),
          ...givenFields({ reason }),
        },
      };
    });
    // This also runs if the status was the same: a repeated call completes one that was interrupted.
    if (to === 'suspended') await onSuspended(partnerId);
    return viewPartner(partner);
  }

  /**
   * Sets or removes the logo of a partner, and deletes the previous picture. A member's change waits for an operator.
   * @param logo the id of the stored picture; undefined removes the logo
   */
  async function changeLogo(partnerId: string, logo: string | undefined, actor: Actor): Promise<PartnerView> {
    let previous: Partner | undefined;
    const partner = await change(partnerId, actor, (current, now) => {
      // The function runs again after a concurrent change, so the last value counts.
      previous = current;
      // The pages of test clients and of live ones show the same logo, so a member's change of it is one of live mode.
      if (needsApproval('live', actor)) {
        const request = requestBrand(current, { logo: logo ?? null }, { actor, now });
        if (request === current.brandRequest) return undefined;
        return { set: storedRequest(request), after: { brandRequest: request?.changes ?? null } };
      }
      if (current.logo === logo) return undefined;
      return { set: { logo }, before: { logo: current.logo ?? null }, after: { logo: logo ?? null } };
    });
    await removeUnused(logos, previous, partner);
    return viewPartner(partner);
  }

  return {
    /** @throws ApiError `not_found` */
    show: (partnerId: string): Promise<Partner> => store.get(partnerId),

    /** Sets the price of one billable event of a kind for this partner, in cents. @throws ApiError `not_found`, `refused` */
    setPrice: (
      partnerId: string,
      price: { kind: BillableKind; cents: number; from: Date | undefined },
      actor: Actor,
    ): Promise<Partner> =>
      change(partnerId, actor, ({ prices: before = {} }, now) => {
        const after = changedPrices(before, price, now);
        const isSame = isDeepStrictEqual(pricesAt(before, now), after);
        return isSame ? undefined : { set: { prices: after }, before, after };
      }),

    /** Sets the highest spend caps that members may set. A ceiling that is left out is removed. */
    setCeilings: (
      { partnerId, mode }: { partnerId: string; mode: Mode },
      ceilings: { perMinute?: number | undefined; perHour?: number | undefined },
      actor: Actor,
    ): Promise<Partner> =>
      change(partnerId, actor, ({ ceilings: before = {} }) => {
        const after = { ...before, [mode]: givenFields(ceilings) };
        return isDeepStrictEqual(before, after) ? undefined : { set: { ceilings: after }, before, after };
      }),

    procedures: router({
      list: query(ListPartners, z.array(PartnerView), async ({ status, ...page }) =>
        (await store.list(withStatus(status), page)).map(viewPartner),
      ),
      count: query(ListPartners.omit(pageFields), Total, ({ status }) => store.count(withStatus(status))),
      /** Finds the partners that match a text, the newest first, each with its matches. */
      search: query(SearchPartners, z.array(FoundPartner), async ({ text, status, limit, after }) => {
        const replaced = isLastFour(text) ? await findReplaced(text) : [];
        const matches = [...(await search.matches(text)), ...replaced];
        const found = await store.findAll([...new Set(matches.map(({ partnerId }) => partnerId))]);
        const partners = found
          .flatMap((partner) => partner ?? [])
          .filter((partner) => status === undefined || statusOf(partner) === status)
          .toSorted(newestFirst);
        const indexOfAfter = partners.findIndex(({ _id }) => _id === after);
        if (after !== undefined && indexOfAfter === -1)
          throw new ApiError('not_found', { description: `No partner ${after} among those found` });
        // Without `after`, the index is -1, so the page begins with the first partner.
        const start = indexOfAfter + 1;
        return partners.slice(start, start + limit).map((partner) => ({
          ...viewPartner(partner),
          found: matches.filter(({ partnerId }) => partnerId === partner._id).map((match) => match.found),
        }));
      }),
      show: query(PartnerReference, PartnerView, async ({ partnerId }) =>
        viewPartner(await store.get(partnerId)),
      ),
      // Checks the addresses of a planned partner, before a command makes the first of its records. It makes them in test mode.
      check: query(PlannedPartner, z.literal('sound'), ({ redirectUris, webhookUrl }) => {
        assertRedirectUris(redirectUris, 'test');
        if (webhookUrl !== undefined) assertWebhookUrl(webhookUrl, 'test');
        return 'sound' as const;
      }),
      create: mutation({ target: null, record: partnerCollection })(
        CreatePartner,
        PartnerView,
        async ({ name }, actor) => {
          const now = clock.now();
          const id = randomId('partner');
          // The wallets are made first. A crash before the insert leaves two unused wallets, but no partner without wallets.
          await openWallets(id);
          const entry = auditEntry(actor, { id, at: now }, { after: { name, status: 'pending' } });
          const fields = { _id: id, name, status: 'pending' as const, createdAt: new Date(now) };
          return viewPartner(await store.insert(fields, entry));
        },
      ),
      update: partnerMutation(UpdatePartner, PartnerView, async ({ partnerId, ...details }, actor) =>
        viewPartner(await change(partnerId, actor, changeDetails(details))),
      ),
      activate: partnerMutation(ActivatePartner, PartnerView, ({ partnerId, reason }, actor, { operator }) =>
        setStatus(partnerId, 'active', { actor, reason, mayBegin: operator.role !== 'ops' }),
      ),
      suspend: partnerMutation(PartnerReference, PartnerView, ({ partnerId }, actor) =>
        setStatus(partnerId, 'suspended', { actor }),
      ),
      /** Suspends a partner for good. Nothing is deleted before its time. Only support and owners may activate it again. */
      close: partnerMutation(ClosePartner, PartnerView, ({ partnerId, reason }, actor) =>
        setStatus(partnerId, 'suspended', { actor, reason, isClosing: true }),
      ),
      // The image is a PNG or JPEG file in base64.
      setLogo: partnerMutation(SetLogo, PartnerView, async ({ partnerId, image }, actor) => {
        await limit('logo', partnerId, { perMinute: logosPerMinute });
        const png = await makeLogo(Buffer.from(image, 'base64'));
        // Another picture has another id. So pages can cache a picture by its id, without a check for changes.
        const id = createHash('sha256').update(partnerId).update(png).digest('hex').slice(0, 32);
        // Throws if the partner does not exist, so that no picture is stored for it.
        await store.get(partnerId);
        // The picture comes before the partner refers to it.
        await logos.keep(id, png);
        return changeLogo(partnerId, id, actor);
      }),
      removeLogo: partnerMutation(PartnerReference, PartnerView, ({ partnerId }, actor) =>
        changeLogo(partnerId, undefined, actor),
      ),
    }),
  };
}
