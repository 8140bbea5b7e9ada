import type { Db } from 'mongodb';
import type { OperatorRole, OperatorStatus } from '../../../contracts/admin/operators.ts';
import {
  type AuditedRecord,
  createRecordStore,
  type RecordFilter,
  recordIndexes,
} from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';

/** A person or a script that may call the admin API. */
export interface Operator extends AuditedRecord {
  name: string;
  role: OperatorRole;
  /** An expired one is `active` here. `statusOf` tells them apart. */
  status: Exclude<OperatorStatus, 'expired'>;
  /** SHA-256 of the token. */
  hash: string;
  /** The last characters of the token. Absent if an older build made the token. */
  last4?: string;
  lastUsedAt?: Date;
  expiresAt?: Date;
  revokedAt?: Date;
}

/** Returns the status of an operator as people see it. @param now milliseconds since the epoch */
export const statusOf = (
  { status, expiresAt }: Pick<Operator, 'status' | 'expiresAt'>,
  now: number,
): OperatorStatus => (status === 'active' && expiresAt && expiresAt.getTime() <= now ? 'expired' : status);

/** Returns the filter for the operators whose `statusOf` is this one, or for all. */
export function withStatus(status: OperatorStatus | undefined, now: number): RecordFilter<Operator> {
  const at = new Date(now);
  if (status === 'expired')
    return { status: 'active', $nor: [{ expiresAt: null }, { expiresAt: { $gt: at } }] };
  return status === 'active' ? { status, $nor: [{ expiresAt: { $lte: at } }] } : { status };
}

export const collection = 'operators';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { hash: 1 }, unique: true },
];

export type OperatorStore = ReturnType<typeof createOperatorStore>;

export function createOperatorStore(db: Db) {
  const operators = db.collection<Operator>(collection);
  const records = createRecordStore<Operator>(db, collection, 'operator');
  return {
    ...records,
    findByHash: async (hash: string): Promise<Operator | undefined> =>
      (await operators.findOne({ hash })) ?? undefined,
    /** Whether an operator has this id or name, also a revoked one. */
    exists: async (named: string): Promise<boolean> =>
      (await operators.findOne({ $or: [{ _id: named }, { name: named }] }, { projection: { _id: 1 } })) !==
      null,
    /** Revokes all operators, because those that were revoked since a backup are present again. @returns how many were active */
    async revokeAll(at: Date): Promise<number> {
      const { total } = await records.count(withStatus('active', at.getTime()));
      await operators.updateMany(
        { status: 'active' },
        { $set: { status: 'revoked', revokedAt: at }, $inc: { revision: 1 } },
      );
      return total;
    },
    async touch(id: string, at: Date): Promise<void> {
      await operators.updateOne({ _id: id }, { $max: { lastUsedAt: at } });
    },
  };
}
