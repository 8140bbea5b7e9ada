import type { Db } from 'mongodb';
import type { Passkey } from '../passkeys/passkey-store.ts';
import type { Session } from './session.ts';

/** What a restore of an earlier state of the database has to end: sessions, codes and sign-ins of users. */
export function createRestoreStore(db: Db) {
  const sessions = db.collection<Session>('sessions');
  const passkeys = db.collection<Passkey>('passkeys');
  return {
    /**
     * Ends sessions and authorization codes that have not expired by `at`. Their codes may have been issued, or exchanged, after
     * the restored moment: the charge that says so is lost. Users may have signed out since then. Idempotent.
     * @returns how many were ended
     */
    async endOpen(at: Date): Promise<{ sessions: number; codes: number; userSignIns: number }> {
      const ended = await sessions.updateMany({ expiresAt: { $gt: at } }, { $set: { expiresAt: at } });
      const refused = await sessions.updateMany(
        { 'code.expiresAt': { $gt: at } },
        { $set: { 'code.expiresAt': at } },
      );
      const signedOut = await passkeys.updateMany(
        { 'signIn.until': { $gt: at } },
        { $unset: { signIn: '' } },
      );
      return {
        sessions: ended.modifiedCount,
        codes: refused.modifiedCount,
        userSignIns: signedOut.modifiedCount,
      };
    },
  };
}
