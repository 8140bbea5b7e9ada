import { z } from 'zod';
import { DisplayName, displayText } from '../display-text.ts';
import { DateTime } from '../identifiers.ts';
import { BrandRequest } from './brands.ts';
import { CreateClient } from './clients.ts';
import { SetEndpoint } from './keys.ts';
import { Email } from './members.ts';
import { OperatorReason, page, reference } from './references.ts';
import { FundWallet } from './wallets.ts';

/**
 * The status of a partner: `pending` → `active` ⇄ `suspended`, and `closed` for one that has left. Clients and keys work only if
 * their partner is active.
 */
export const PartnerStatus = z.enum(['pending', 'active', 'suspended', 'closed']);
export type PartnerStatus = z.infer<typeof PartnerStatus>;

export const PartnerView = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: PartnerStatus,
  /** Id of the logo that the hosted pages show; null for the first letter of the name. */
  logo: z.string().nullable(),
  /** A member's change of the logo that waits for an operator, or was refused. */
  brandRequest: BrandRequest.nullable(),
  /** E-mail addresses of the people to ask at the company. */
  contacts: z.array(z.string()),
  vatId: z.string().nullable(),
  /** The postal address in one line. */
  address: z.string().nullable(),
  createdAt: DateTime,
  /** When it was closed. `remaindersOf` says until when its records are kept. */
  closedAt: DateTime.nullable(),
});
export type PartnerView = z.infer<typeof PartnerView>;

export const PartnerReference = z.strictObject({ partnerId: reference('partner') });
/** The role ops must give a reason, and may only activate what was suspended. */
export const ActivatePartner = PartnerReference.extend({ reason: OperatorReason.optional() });
export const ClosePartner = PartnerReference.extend({ reason: OperatorReason });
/** The most bytes of an uploaded picture. */
export const largestLogoFile = 256 * 1024;
/** Base64 writes each group of three bytes as four characters. */
const largestBase64 = Math.ceil(largestLogoFile / 3) * 4;
export const SetLogo = z.strictObject({
  partnerId: reference('partner'),
  /** A PNG or JPEG file. */
  image: z
    .base64({ error: ({ input }) => (input === '' ? 'the file is empty' : 'expected a file in base64') })
    .min(1)
    .max(largestBase64, { error: 'the file must have at most 256 KiB' }),
});
/** Changes what we know of the company. A field that is left out stays as it is, and one that is null is removed. */
export const UpdatePartner = PartnerReference.extend({
  name: DisplayName.optional(),
  contacts: z
    .array(Email)
    .max(10)
    .transform((all) => [...new Set(all)])
    .optional(),
  /** The country and up to 13 letters and digits, without spaces. */
  vatId: z
    .string()
    .trim()
    .max(32)
    .toUpperCase()
    .transform((text) => text.replace(/[ .-]/g, ''))
    .pipe(z.string().regex(/^[A-Z]{2}[0-9A-Z]{2,13}$/, { error: 'expected a VAT id such as DE123456789' }))
    .nullable()
    .optional(),
  address: displayText(300).nullable().optional(),
});
export type UpdatePartner = z.infer<typeof UpdatePartner>;
export const CreatePartner = z.strictObject({ name: DisplayName });

/** The records that `svcadmin partners onboard` will create in test mode. They are all checked before any is created. */
export const PlannedPartner = z.strictObject({
  name: DisplayName,
  redirectUris: CreateClient.shape.redirectUris,
  claims: CreateClient.shape.claims,
  webhookUrl: SetEndpoint.shape.url.optional(),
  /** The first funding of the test wallet, in cents. */
  amount: FundWallet.shape.amount,
});

export const ListPartners = z.strictObject({ status: PartnerStatus.optional(), ...page });
export type ListPartners = z.infer<typeof ListPartners>;

/** Part of a name or of a redirect URI's host, an id or its beginning, or the last four characters of an API key. */
export const SearchPartners = z.strictObject({
  text: z
    .string()
    .trim()
    .min(2, { error: 'give at least two characters' })
    .max(253, { error: 'give at most 253 characters' }),
  status: PartnerStatus.optional(),
  ...page,
});
export type SearchPartners = z.infer<typeof SearchPartners>;

/** A found partner. `found` says where the search text was found, such as `name` or `redirect URI … of cli_…`. */
export const FoundPartner = z.strictObject({ ...PartnerView.shape, found: z.array(z.string()) });
export type FoundPartner = z.infer<typeof FoundPartner>;
