import type { Db } from 'mongodb';
import type { Session } from './transitions.ts';

/** What a restore of an earlier state of the database has to change in sessions. */
export function createRestoreStore(db: Db) {
  const sessions = db.collection<Session>('sessions');
  return {
    /**
     * Ends sessions and authorization codes that have not expired by `at`. Their codes may have been issued, or exchanged, after
     * the restored moment: the charge that says so is lost. Idempotent.
     * @returns how many sessions and codes were ended
     */
    async endOpen(at: Date): Promise<{ sessions: number; codes: number }> {
      const ended = await sessions.updateMany({ expiresAt: { $gt: at } }, { $set: { expiresAt: at } });
      const refused = await sessions.updateMany(
        { 'code.expiresAt': { $gt: at } },
        { $set: { 'code.expiresAt': at } },
      );
      return { sessions: ended.modifiedCount, codes: refused.modifiedCount };
    },
  };
}
