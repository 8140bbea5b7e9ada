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
  /** Prices in cents by billable kind, if they differ from the configured price. */
  prices?: { token?: number; storefront?: number; checkbox?: number };
  branding?: { color?: string };
  /** The recipients of e-mails about warnings, and the threshold of a low balance if it is not the default. */
  warnings?: { emails?: string[]; lowBalance?: LowBalance };
  /** Id of the logo that the hosted pages show. */
  logo?: string;
}

const collection = 'partners';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { name: 1 } },
  { collection, key: { 'warnings.lowBalance': 1 }, sparse: true },
];

export interface PartnerStore extends RecordStore<Partner> {
  /** Returns the partners that have set a threshold of a low balance. */
  withLowBalance(): Promise<Partner[]>;
}

export function createPartnerStore(db: Db): PartnerStore {
  const partners = db.collection<Partner>(collection);
  return {
    ...createRecordStore<Partner>(db, collection, 'partner'),
    withLowBalance: () => partners.find({ 'warnings.lowBalance': { $exists: true } }).toArray(),
  };
}
