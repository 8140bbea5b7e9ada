import type { Db } from 'mongodb';
import type { PartnerStatus } from '../../contracts/admin/partners.ts';
import type { LowBalance } from '../../contracts/admin/warnings.ts';
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
  /** Who is sent e-mails about warnings, and when a balance is low where that is not the default. */
  warnings?: { emails?: string[]; lowBalance?: LowBalance };
  /** Id of the picture that the hosted pages show. */
  logo?: string;
}

const collection = 'partners';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { name: 1 } },
  { collection, key: { 'warnings.lowBalance': 1 }, sparse: true },
];

export interface PartnerStore extends RecordStore<Partner> {
  /** Partners whose low balance is not the default. */
  withLowBalance(): Promise<Partner[]>;
}

export function createPartnerStore(db: Db): PartnerStore {
  const partners = db.collection<Partner>(collection);
  return {
    ...createRecordStore<Partner>(db, collection, 'partner'),
    withLowBalance: () => partners.find({ 'warnings.lowBalance': { $exists: true } }).toArray(),
  };
}
