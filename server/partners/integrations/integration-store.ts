import type { IntegrationStatus } from '../../../contracts/admin/integrations.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { type AuditedRecord, recordIndexes } from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { SealedField } from '../../platform/keys/sealed-values.ts';

/** An integration lets shops exchange the codes of one storefront client. The shops sign their requests with one secret. */
export interface Integration extends AuditedRecord {
  partnerId: string;
  clientId: string;
  /** The mode of the integration's client. */
  mode: Mode;
  status: IntegrationStatus;
  /** Host names of the shops, in lower case. */
  shops: string[];
  /** The secret `intsec_…`, encrypted with the master key. It must be decryptable, because HMAC needs the secret itself. */
  sealedSecret: string;
  secretVersion: number;
  last4: string;
  lastUsedAt?: Date;
  /** The previous secret, which is accepted until it expires. */
  oldSecret?: OldIntegrationSecret;
  rotatedAt?: Date;
}

export interface OldIntegrationSecret {
  sealedSecret: string;
  secretVersion: number;
  last4: string;
  expiresAt: Date;
  lastUsedAt?: Date;
}

export const integrationCollection = 'integrations';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(integrationCollection),
  { collection: integrationCollection, key: { last4: 1 }, sparse: true },
  { collection: integrationCollection, key: { 'oldSecret.last4': 1 }, sparse: true },
  // For warnings of old secrets that expire soon.
  { collection: integrationCollection, key: { 'oldSecret.expiresAt': 1 }, sparse: true },
  { collection: integrationCollection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection: integrationCollection, key: { clientId: 1, createdAt: -1, _id: -1 } },
];

/** The place of an encrypted secret. `counted`: encrypting it with a new master key also increases the record's `revision`. */
const sealed = (field: string): SealedField => ({ collection: integrationCollection, field, counted: true });
export const sealedSecret = sealed('sealedSecret');
export const sealedOldSecret = sealed('oldSecret.sealedSecret');
export const sealedFields: SealedField[] = [sealedSecret, sealedOldSecret];
