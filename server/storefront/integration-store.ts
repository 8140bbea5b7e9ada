import type { IntegrationStatus } from '../../contracts/admin/integrations.ts';
import type { Total } from '../../contracts/admin/references.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { AuditEntry } from '../platform/database/audit-entry.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { SealedField } from '../platform/keys/sealed-values.ts';

/** Shops that exchange the codes of one storefront client by calls signed with one secret. */
export interface Integration {
  _id: string;
  partnerId: string;
  clientId: string;
  /** The mode of its client. */
  mode: Mode;
  status: IntegrationStatus;
  /** Host names, lower case. */
  shops: string[];
  /** `intsec_…` under the master key: HMAC needs it back. */
  sealedSecret: string;
  secretVersion: number;
  /** The last characters of the secret; absent in integrations of older builds. */
  last4?: string;
  lastUsedAt?: Date;
  /** The secret before the present one, until it expires. */
  oldSecret?: OldIntegrationSecret;
  rotatedAt?: Date;
  createdAt: Date;
  revision: number;
  audit: AuditEntry[];
  auditAt?: Date;
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
  { collection: integrationCollection, key: { createdAt: -1, _id: -1 } },
  { collection: integrationCollection, key: { auditAt: 1 }, sparse: true },
  { collection: integrationCollection, key: { last4: 1 }, sparse: true },
  { collection: integrationCollection, key: { 'oldSecret.last4': 1 }, sparse: true },
  { collection: integrationCollection, key: { 'oldSecret.expiresAt': 1 }, sparse: true },
  { collection: integrationCollection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection: integrationCollection, key: { clientId: 1, createdAt: -1, _id: -1 } },
];

const sealed = (field: string): SealedField => ({ collection: integrationCollection, field, counted: true });
export const sealedSecrets = [sealed('sealedSecret')];
export const sealedOldSecrets = [sealed('oldSecret.sealedSecret')];
export const sealedFields: SealedField[] = [...sealedSecrets, ...sealedOldSecrets];

/** Fields by their value; those that are undefined do not narrow. */
type Filter = { [Field in keyof Integration]?: Integration[Field] | undefined };

/** Records that are changed one at a time, each change with its audit entry: the partners feature has such. */
export interface IntegrationStore {
  insert(
    integration: Omit<Integration, 'revision' | 'audit' | 'auditAt'>,
    entry: AuditEntry,
  ): Promise<Integration>;
  find(id: string): Promise<Integration | undefined>;
  findAll(ids: readonly string[]): Promise<(Integration | undefined)[]>;
  /** Newest first. */
  list(filter: Filter, page: { limit: number; after?: string | undefined }): Promise<Integration[]>;
  count(filter: Filter): Promise<Total>;
  /** @throws ApiError `not_found` */
  change(
    id: string,
    decide: (current: Integration) =>
      | {
          set: {
            [Field in keyof Omit<Integration, '_id' | 'createdAt' | 'revision' | 'audit' | 'auditAt'>]?:
              | Integration[Field]
              | undefined;
          };
          entry: AuditEntry;
        }
      | undefined,
  ): Promise<Integration>;
}
