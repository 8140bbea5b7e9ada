import type { Clock } from '../../platform/clock.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import { ApiError } from '../../platform/errors.ts';
import type { PasskeyKey } from '../../platform/webauthn/relying-party.ts';
import { hasPasskey, type MemberPasskey, newPasskey, passkeyField, passkeysOf } from './member-passkeys.ts';
import type { MembersStores } from './store.ts';

const mostPasskeys = 10;

/** @throws ApiError `unauthorized` for the error of a database in which another member has this passkey */
export function refuseForeignPasskey(error: unknown): never {
  if (!isDuplicateKey(error)) throw error;
  const description = 'The passkey was not accepted: it belongs to another member; make a new one';
  throw new ApiError('unauthorized', { description });
}

const refused = (description: string) => new ApiError('refused', { description });

/** Adds and removes passkeys of a member who is signed in. */
export function createPasskeyChanges(
  { members, memberSessions }: Pick<MembersStores, 'members' | 'memberSessions'>,
  clock: Pick<Clock, 'now'>,
) {
  /** Changes the passkeys, and writes the audit entry of the member with it. */
  const change = (actor: Actor, decide: (present: MemberPasskey[], now: number) => MemberPasskey[]) =>
    members.change(actor.operatorId, (member) => {
      const now = clock.now();
      const before = passkeysOf(member);
      const after = decide(before, now);
      const difference = { before: { passkeys: before.length }, after: { passkeys: after.length } };
      const entry = auditEntry(actor, { id: member._id, at: now }, difference);
      return { set: passkeyField(after), entry };
    });

  return {
    /** @throws ApiError `refused` if the member has ten, `unauthorized` if this or another member has this passkey */
    async add(passkey: PasskeyKey, name: string | undefined, actor: Actor): Promise<void> {
      const added = change(actor, (present, now) => {
        if (present.length >= mostPasskeys)
          throw refused(`You have ${mostPasskeys} passkeys: remove one first`);
        // The index refuses a passkey of another member only.
        if (hasPasskey({ passkey: present }, passkey.credentialId)) throw new ApiError('unauthorized');
        return [...present, newPasskey(passkey, now, name)];
      });
      await added.catch(refuseForeignPasskey);
    },

    /** Removes a passkey, and ends the sessions that it started. @throws ApiError `not_found`, `refused` for the last one */
    async remove(id: string, actor: Actor): Promise<void> {
      const member = await change(actor, (present) => {
        const rest = present.filter(({ credentialId }) => credentialId !== id);
        if (rest.length === present.length)
          throw new ApiError('not_found', { description: 'No such passkey' });
        if (rest.length === 0) throw refused('It is your only passkey: add another one first');
        return rest;
      });
      const kept = passkeysOf(member).map(({ credentialId }) => credentialId);
      await memberSessions.endOthersThan(kept, member._id);
    },
  };
}
