import type { Db } from 'mongodb';
import type { PartnerStatus } from '../../contracts/admin/partners.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import {
  type AuditedRecord,
  createRecordStore,
  type RecordStore,
  recordIndexes,
} from '../platform/database/records.ts';

/** A company that verifies its users with us. */
export interface Partner extends AuditedRecord {
  name: string;
  status: PartnerStatus;
  /** Cents for each billable kind where they differ from the configured price. */
  prices?: { token?: number; storefront?: number; checkbox?: number };
  branding?: { color?: string };
  /** Id of the picture that the hosted pages show. */
  logo?: string;
}

const collection = 'partners';
export const indexes: IndexDeclaration[] = [...recordIndexes(collection), { collection, key: { name: 1 } }];

export type PartnerStore = RecordStore<Partner>;

export function createPartnerStore(db: Db): PartnerStore {
  return createRecordStore<Partner>(db, collection, 'partner');
}
