import { isDeepStrictEqual } from 'node:util';
import type { BrandChanges } from '../../../contracts/admin/brands.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { ApiError } from '../../platform/errors.ts';
import { presentValues } from '../settings.ts';

/** A change of a live brand by a member, as its client or partner keeps it. */
export interface BrandRequest {
  status: 'waiting' | 'refused';
  changes: BrandChanges;
  requestedAt: Date;
  requestedBy: string;
  reason?: string;
}

/** A record with a brand: a client, or a partner with its logo. */
export interface Branded {
  brandName?: string | undefined;
  brandColor?: string | undefined;
  purpose?: string | undefined;
  logo?: string | undefined;
  brandRequest?: BrandRequest | undefined;
}

const brandSettings = ['brandName', 'brandColor', 'purpose', 'logo'] as const;

/** A page of a list of waiting changes. */
export interface BrandPage {
  limit: number;
  /** The last record of the page before. */
  after?: { _id: string; brandWaitsSince?: Date } | undefined;
}

/** Whether a change of a brand waits for an operator. A member's change of a live brand does. */
export const needsApproval = (mode: Mode, actor: Pick<Actor, 'partnerId'>): boolean =>
  mode === 'live' && actor.partnerId !== undefined;

/** Divides settings into those of the brand and all others. */
export function splitBrand<S extends object>(settings: S): { brand: BrandChanges; rest: S } {
  const names: readonly string[] = brandSettings;
  const partOf = (isBrand: boolean) =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name) === isBrand));
  return { brand: partOf(true), rest: partOf(false) as S };
}

/**
 * The request for a member's change of a live brand. It adds to a waiting one. Undefined if the record then has all of it already,
 * so a member withdraws a request by the present values.
 */
export function requestBrand(
  record: Branded,
  wanted: BrandChanges,
  { actor, now }: { actor: Pick<Actor, 'operatorId'>; now: number },
): BrandRequest | undefined {
  const { brandRequest } = record;
  const all = { ...(brandRequest?.status === 'waiting' ? brandRequest.changes : {}), ...wanted };
  const present = presentValues(record, all);
  const entries = Object.entries(all).filter(
    ([name, value]) => (value ?? null) !== present[name as keyof BrandChanges],
  );
  if (entries.length === 0) return undefined;
  const changes: BrandChanges = Object.fromEntries(entries.map(([name, value]) => [name, value ?? null]));
  if (brandRequest?.status === 'waiting' && isDeepStrictEqual(changes, brandRequest.changes))
    return brandRequest;
  return { status: 'waiting', changes, requestedAt: new Date(now), requestedBy: actor.operatorId };
}

/** The waiting request. @throws ApiError `refused` if there is none, `conflict` if it is not the one that the operator has seen */
export function requireWaiting({ brandRequest }: Branded, id: string, seenAt?: string): BrandRequest {
  if (brandRequest?.status !== 'waiting')
    throw new ApiError('refused', { description: `No change of the brand of ${id} waits for approval` });
  if (seenAt !== undefined && new Date(seenAt).getTime() !== brandRequest.requestedAt.getTime())
    throw new ApiError('conflict', {
      description: `The change of ${id} was replaced by another one; look at it: svcadmin brands list`,
    });
  return brandRequest;
}

/** The fields of a record with this request. `brandWaitsSince` lists the waiting ones. */
export const storedRequest = (brandRequest: BrandRequest | undefined) => ({
  brandRequest,
  brandWaitsSince: brandRequest?.status === 'waiting' ? brandRequest.requestedAt : undefined,
});
