import type { IntegrationStatus } from '../../contracts/admin/integrations.ts';
import type { Total } from '../../contracts/admin/references.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { AuditEntry } from '../platform/database/audit-entry.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { SealedField } from '../platform/keys/sealed-values.ts';

/** An integration lets shops exchange the codes of one storefront client. The shops sign their requests with one secret. */
export interface Integration {
  _id: string;
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
  /** The last characters of the secret. Absent if an older build made the integration. */
  last4?: string;
  lastUsedAt?: Date;
  /** The previous secret, which is accepted until it expires. */
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
export const sealedSecret = sealed('sealedSecret');
export const sealedOldSecret = sealed('oldSecret.sealedSecret');
export const sealedFields: SealedField[] = [sealedSecret, sealedOldSecret];

/** The values that fields must have. A field that is undefined is not checked. */
type Filter = { [Field in keyof Integration]?: Integration[Field] | undefined };

/** A store of integrations. Each change of a record is written together with its audit entry. */
export interface IntegrationStore {
  insert(
    integration: Omit<Integration, 'revision' | 'audit' | 'auditAt'>,
    entry: AuditEntry,
  ): Promise<Integration>;
  find(id: string): Promise<Integration | undefined>;
  findAll(ids: readonly string[]): Promise<(Integration | undefined)[]>;
  /** Returns integrations, the newest first. */
  list(filter: Filter, page: { limit: number; after?: string | undefined }): Promise<Integration[]>;
  count(filter: Filter): Promise<Total>;
  /** Changes an integration, unless `decide` returns undefined. @throws ApiError `not_found` */
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
