import type { Db } from 'mongodb';
import type { Session } from '../sessions/session.ts';
import { withStatus } from '../sessions/session-list-store.ts';
import { collection as sessionCollection } from '../sessions/session-store.ts';
import type { Passkey } from './passkeys/passkey-store.ts';
import { collection as passkeyCollection } from './passkeys/passkey-store.ts';

/** Ends what a restored database must not continue: sessions, codes and sign-ins of users. */
export function createRestoreStore(db: Db) {
  const sessions = db.collection<Session>(sessionCollection);
  const passkeys = db.collection<Passkey>(passkeyCollection);
  return {
    /**
     * Ends sessions and authorization codes that have not expired at `at`. A code may have been exchanged after the
     * backup was made, and its charge is lost. Signs users out as well, because some may have signed out since.
     * Idempotent.
     * @returns how many were ended. A session that was complete or had failed was not open, so it is not counted
     */
    async endOpen(at: Date): Promise<{ sessions: number; codes: number; userSignIns: number }> {
      const end = { $set: { expiresAt: at } };
      const ended = await sessions.updateMany(withStatus('open', at), end);
      await sessions.updateMany({ expiresAt: { $gt: at } }, end);
      const endedCodes = await sessions.updateMany(
        { 'code.expiresAt': { $gt: at } },
        { $set: { 'code.expiresAt': at } },
      );
      const signedOut = await passkeys.updateMany(
        { 'signIn.until': { $gt: at } },
        { $unset: { signIn: '' } },
      );
      return {
        sessions: ended.modifiedCount,
        codes: endedCodes.modifiedCount,
        userSignIns: signedOut.modifiedCount,
      };
    },
  };
}
