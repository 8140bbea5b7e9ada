import type { Db } from 'mongodb';
import type { PartnerStatus } from '../../contracts/admin/partners.ts';
import type { LowBalance } from '../../contracts/admin/warnings.ts';
import type { Prices } from '../../contracts/charge.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import { readPage } from '../platform/database/reads/pages.ts';
import {
  type AuditedRecord,
  createFindTogether,
  createRecordStore,
  type RecordFilter,
  recordIndexes,
} from '../platform/database/records.ts';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import type { BrandPage, BrandRequest } from './brands/brand-requests.ts';

/** A company that verifies its users with us. */
export interface Partner extends AuditedRecord {
  name: string;
  /** A closed partner is `suspended` here, so that what refuses a suspended one refuses it. `statusOf` tells them apart. */
  status: Exclude<PartnerStatus, 'closed'>;
  /** When it was closed, that is, suspended for good. */
  closedAt?: Date;
  contacts?: string[];
  vatId?: string;
  address?: string;
  /** Prices in cents by billable kind, if they differ from the configured price. */
  prices?: Prices;
  /** The highest spend caps that members may set, by mode. */
  ceilings?: Partial<Record<Mode, { perMinute?: number; perHour?: number }>>;
  /** The recipients of e-mails about warnings, and the threshold of a low balance if it is not the default. */
  warnings?: { emails?: string[]; lowBalance?: LowBalance };
  /** Id of the logo that the hosted pages show. */
  logo?: string;
  /** A member's change of the logo, and since when it waits for an operator. */
  brandRequest?: BrandRequest;
  brandWaitsSince?: Date;
}

/** Returns the status of a partner as people see it. */
export const statusOf = ({ status, closedAt }: Pick<Partner, 'status' | 'closedAt'>): PartnerStatus =>
  closedAt ? 'closed' : status;

/** Returns the filter for the partners whose `statusOf` is this one, or for all. */
export function withStatus(status: PartnerStatus | undefined): RecordFilter<Partner> {
  if (status === 'closed') return { $nor: [{ closedAt: null }] };
  return status === 'suspended' ? { status, $nor: [{ closedAt: { $exists: true } }] } : { status };
}

export const collection = 'partners';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { name: 1 } },
  { collection, key: { contacts: 1 }, sparse: true },
  { collection, key: { brandWaitsSince: 1, _id: 1 }, sparse: true },
  { collection, key: { 'warnings.lowBalance': 1 }, sparse: true },
];

export type PartnerStore = ReturnType<typeof createPartnerStore>;

export function createPartnerStore(db: Db, read = createJointReads(db)) {
  const partners = db.collection<Partner>(collection);
  const records = createRecordStore<Partner>(db, collection, 'partner');
  return {
    ...records,
    /** Reads the names of partners by their ids. Ids that do not exist are left out. */
    async names(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const found = await records.findAll(ids);
      return new Map(found.flatMap((partner) => (partner ? [[partner._id, partner.name] as const] : [])));
    },
    findTogether: createFindTogether<Partner>(read, collection),
    /** The partners whose logo has a waiting change, the longest waiting first. */
    brandsWaiting: (partnerId: string | undefined, page: BrandPage): Promise<Partner[]> =>
      readPage(
        partners,
        { brandWaitsSince: { $exists: true }, ...(partnerId === undefined ? {} : { _id: partnerId }) },
        { ...page, oldestFirst: true, by: 'brandWaitsSince' },
      ),
    /** Returns the partners that have set a threshold of a low balance. */
    withLowBalance: (): Promise<Partner[]> =>
      partners.find({ 'warnings.lowBalance': { $exists: true } }).toArray(),
  };
}
