import { z } from 'zod';
import { DateTime, type Mode } from '../identifiers.ts';
import { OperatorReason, page, reference, wrongKindMessage } from './references.ts';

/** Settings of a brand. Null is the default. The logo is of the partner, the other settings are of a client. */
export const BrandChanges = z.strictObject({
  brandName: z.string().nullable().optional(),
  brandColor: z.string().nullable().optional(),
  purpose: z.string().nullable().optional(),
  /** The id of the picture. */
  logo: z.string().nullable().optional(),
});
export type BrandChanges = z.infer<typeof BrandChanges>;

/** A change of a live brand that a member asked for. It is not on the hosted pages before an operator approved it. */
export const BrandRequest = z.strictObject({
  status: z.enum(['waiting', 'refused']),
  changes: BrandChanges,
  requestedAt: DateTime,
  /** The member. */
  requestedBy: z.string(),
  /** Why an operator refused it. */
  reason: z.string().nullable(),
});
export type BrandRequest = z.infer<typeof BrandRequest>;

/** A waiting change, with the present settings. `id` is that of the client, or of the partner for a logo. */
export const WaitingBrand = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  partnerName: z.string().nullable(),
  present: BrandChanges,
  changes: BrandChanges,
  /** The address of the new logo. Null if the logo does not change, or is removed. */
  logoUrl: z.string().nullable(),
  requestedAt: DateTime,
  requestedBy: z.string(),
});
export type WaitingBrand = z.infer<typeof WaitingBrand>;

export const ListBrands = z.strictObject({ partnerId: reference('partner').optional(), ...page });

const brandId = z
  .string()
  .min(1)
  .max(128)
  .superRefine((text, context) => {
    const message = text.startsWith('ptr_') ? undefined : wrongKindMessage(text, 'client');
    if (message) context.addIssue({ code: 'custom', message });
  });
/** `requestedAt`: of the change that the operator has seen. Another one is then not decided on. */
export const BrandReference = z.strictObject({ brandId, requestedAt: DateTime.optional() });
export const RefuseBrand = BrandReference.extend({ reason: OperatorReason });

/** The logo that hosted pages of this mode show. Test mode shows a new one before it is approved. */
export function logoFor(
  mode: Mode,
  {
    logo,
    brandRequest,
  }: {
    logo?: string | null | undefined;
    brandRequest?: { status: string; changes: { logo?: string | null | undefined } } | null | undefined;
  },
): string | null | undefined {
  const wanted = brandRequest?.status === 'waiting' ? brandRequest.changes.logo : undefined;
  return mode === 'test' && wanted !== undefined ? wanted : logo;
}
