import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { page, reference } from './references.ts';

/** `pending` → `active` ⇄ `suspended`: only an active partner's clients and keys serve. */
export const PartnerStatus = z.enum(['pending', 'active', 'suspended']);
export type PartnerStatus = z.infer<typeof PartnerStatus>;

export const PartnerView = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: PartnerStatus,
  createdAt: DateTime,
});
export type PartnerView = z.infer<typeof PartnerView>;

/**
 * Text of operators that people read on lists and pages, of at most `max` characters: without control characters,
 * those included that turn the direction of what follows.
 */
export const displayText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(max)
    .regex(/^[^\p{Cc}\u202A-\u202E\u2066-\u2069]+$/u, { error: 'must not contain control characters' });

export const DisplayName = displayText(120);

export const PartnerReference = z.strictObject({ partnerId: reference('partner') });
export const CreatePartner = z.strictObject({ name: DisplayName });
export const ListPartners = z.strictObject({ status: PartnerStatus.optional(), ...page });
export type ListPartners = z.infer<typeof ListPartners>;
