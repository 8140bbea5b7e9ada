import { z } from 'zod';
import { DisplayName } from '../display-text.ts';
import { DateTime } from '../identifiers.ts';
import { CreateClient } from './clients.ts';
import { SetEndpoint } from './keys.ts';
import { page, reference } from './references.ts';
import { FundWallet } from './wallets.ts';

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

export const PartnerReference = z.strictObject({ partnerId: reference('partner') });
export const CreatePartner = z.strictObject({ name: DisplayName });

/** What `svcadmin partners onboard` is about to make in test mode, judged as a whole before any of it is made. */
export const PlannedPartner = z.strictObject({
  name: DisplayName,
  redirectUris: CreateClient.shape.redirectUris,
  claims: CreateClient.shape.claims,
  webhookUrl: SetEndpoint.shape.url.optional(),
  /** Cents. */
  amount: FundWallet.shape.amount,
});

export const ListPartners = z.strictObject({ status: PartnerStatus.optional(), ...page });
export type ListPartners = z.infer<typeof ListPartners>;
