import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { keepOldSeconds, OldSecret } from './keys.ts';
import { page, reference } from './references.ts';

export const IntegrationStatus = z.enum(['active', 'disabled']);
export type IntegrationStatus = z.infer<typeof IntegrationStatus>;

/** A storefront integration without its secret: the shops that exchange the codes of one client. */
export const IntegrationView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  clientId: z.string(),
  mode: Mode,
  status: IntegrationStatus,
  shops: z.array(z.string()),
  secretVersion: z.number().int(),
  /** The last characters of the secret. Null if an older build made the secret. */
  last4: z.string().nullable(),
  createdAt: DateTime,
  rotatedAt: DateTime.nullable(),
  /** The last use of the current secret, accurate to some minutes. Null if it was not used yet. */
  lastUsedAt: DateTime.nullable(),
  /** The previous secret, while it is still accepted. */
  oldSecret: OldSecret.nullable(),
});
export type IntegrationView = z.infer<typeof IntegrationView>;
export const ListedIntegration = IntegrationView.extend({ partnerName: z.string().nullable() });

/** The only response that contains the integration secret, `intsec_…`. */
export const IntegrationWithSecret = z.strictObject({
  ...IntegrationView.shape,
  integrationSecret: z.string(),
});
export type IntegrationWithSecret = z.infer<typeof IntegrationWithSecret>;

/** RFC 1123 host names with at least one dot, and `localhost` for trying out. */
const hostName =
  /^(localhost|(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)$/;

const Shop = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(hostName, { error: ({ input }) => `${String(input)} is not the host name of a shop` });

export const mostShops = 100;
const Shops = z
  .array(Shop)
  .min(1, { error: 'at least one shop' })
  .max(mostShops)
  .transform((shops) => [...new Set(shops)]);

export const CreateIntegration = z.strictObject({
  partnerId: reference('partner'),
  clientId: reference('client'),
  shops: Shops,
});
export type CreateIntegration = z.infer<typeof CreateIntegration>;

export const UpdateIntegration = z
  .strictObject({
    integrationId: reference('integration'),
    addShops: Shops.optional(),
    removeShops: Shops.optional(),
  })
  .refine(({ addShops, removeShops }) => addShops !== undefined || removeShops !== undefined, {
    error: 'name shops to add or to remove',
  });
export type UpdateIntegration = z.infer<typeof UpdateIntegration>;

export const IntegrationReference = z.strictObject({ integrationId: reference('integration') });
export const RotateIntegrationSecret = z.strictObject({
  integrationId: reference('integration'),
  keepOldSeconds,
});
export type RotateIntegrationSecret = z.infer<typeof RotateIntegrationSecret>;
export const ListIntegrations = z.strictObject({
  partnerId: reference('partner').optional(),
  clientId: reference('client').optional(),
  mode: Mode.optional(),
  status: IntegrationStatus.optional(),
  ...page,
});
export type ListIntegrations = z.infer<typeof ListIntegrations>;
