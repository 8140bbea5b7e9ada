import type { Mode } from '../../../contracts/identifiers.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { ApiError } from '../../platform/errors.ts';
import { deriveId, keyed } from '../../platform/ids.ts';
import { createChallenges } from '../../platform/webauthn/challenges.ts';
import {
  type AssertionAnswer,
  type createRelyingParty,
  readAssertion,
  readCreation,
} from '../../platform/webauthn/relying-party.ts';
import type { PeopleContext } from '../context.ts';
import { createKeepUser } from '../users/keep-user.ts';
import type { Passkey } from './passkey-store.ts';

export const mostPasskeys = 10;

/** The purpose of a challenge, and the state that it is bound to. */
export type Binding = readonly (string | number)[];

export type Ceremony = 'save' | 'return' | 'sign_in';
export type CeremonyOutcome = 'done' | 'declined' | 'refused' | 'unknown' | 'other_mode' | 'stale';

/** A browser's answer, with the passkey that it names. Neither is verified. */
export interface UnverifiedAnswer {
  answer: AssertionAnswer | undefined;
  passkey: Passkey | undefined;
}

/** What a user does with a passkey: return to a verification, or sign in to the user's own data. */
interface Use<Found> {
  ceremony: 'return' | 'sign_in';
  /** The mode that the passkey's user must have. Undefined if both modes are accepted. */
  mode?: Mode;
  /** Reads the records of the passkey's user. It is called while the answer is verified, which saves time. */
  read: (userId: string) => Promise<Found | undefined>;
}

const noPasskeyError = (userId: string, passkeyId: string) =>
  new ApiError('not_found', { description: `User ${userId} has no passkey ${passkeyId}` });

/**
 * Passkeys of users (WebAuthn): saved after a verification, and used to return.
 * @param onCeremony called when a ceremony has ended
 */
export function createPasskeys(
  context: PeopleContext,
  relyingParty: ReturnType<typeof createRelyingParty>,
  onCeremony: (ceremony: Ceremony, outcome: CeremonyOutcome) => void,
) {
  const { passkeyStore: store, users, clock } = context;
  const { id: key } = context.keyring;
  const keepUser = createKeepUser(context);
  const challenges = createChallenges(key, clock);
  const idOf = (credentialId: string) => deriveId(key, 'passkey', [credentialId]);
  /** The WebAuthn user handle, which an authenticator stores. It reveals nothing about the user. */
  const handleOf = (userId: string) => keyed(key, ['passkey user', userId]).toString('base64url');

  /** Reports that a ceremony has failed, and returns the error for the browser. */
  function refusal(ceremony: Ceremony, outcome: 'refused' | 'unknown' | 'other_mode'): ApiError {
    onCeremony(ceremony, outcome);
    return new ApiError(`passkey_${outcome}`);
  }

  return {
    ofUser: store.ofUser,
    onCeremony,

    /** `PublicKeyCredentialRequestOptionsJSON` */
    requestOptions: (binding: Binding) => relyingParty.requestOptions(challenges.issue(binding)),

    /**
     * Reads a browser's answer, and finds the passkey that it names.
     * @param text `AuthenticationResponseJSON`
     */
    async readAnswer(text: string): Promise<UnverifiedAnswer> {
      const answer = readAssertion(text);
      return { answer, passkey: answer && (await store.find(idOf(answer.credentialId))) };
    },

    /**
     * Verifies that a passkey answers a challenge with this binding.
     * @returns what was read of its user. `useStored` settles when the time of this use is stored, and never rejects
     * @throws ApiError `passkey_refused`, `passkey_unknown`, `passkey_other_mode`
     */
    async use<Found>(
      { answer, passkey }: UnverifiedAnswer,
      binding: Binding,
      { mode, ceremony, read }: Use<Found>,
    ): Promise<{ found: Found; passkey: Passkey; useStored: Promise<unknown> }> {
      const issuedAt = answer && challenges.check(binding, answer.challenge);
      if (!answer || issuedAt === undefined) throw refusal(ceremony, 'refused');
      if (!passkey) throw refusal(ceremony, 'unknown');
      const passkeyKey = { ...passkey, publicKey: Buffer.from(passkey.publicKey, 'base64url') };
      const [use, found] = await Promise.all([
        relyingParty.verifyAssertion(answer, answer.challenge, passkeyKey),
        read(passkey.userId),
      ]);
      const { userHandle } = answer.response;
      const isOfOtherUser = userHandle !== undefined && userHandle !== handleOf(passkey.userId);
      if (!use || isOfOtherUser) throw refusal(ceremony, 'refused');
      if (mode && passkey.mode !== mode) throw refusal(ceremony, 'other_mode');
      if (!found) throw refusal(ceremony, 'unknown');
      // A return changes its session, which invalidates the challenge. A sign-in has no session. So its challenge must be
      // newer than those that the passkey has answered before.
      const needsNewChallenge = ceremony === 'sign_in';
      const stored = store.noteUse(passkey, { issuedAt, use, at: new Date(clock.now()), needsNewChallenge });
      // A counter that does not grow reveals a copied passkey. Many passkeys have none, and send 0.
      const hasCounter = passkey.counter > 0 || use.counter > 0;
      const mustBeStored = needsNewChallenge || hasCounter;
      if (mustBeStored && !(await stored)) throw refusal(ceremony, 'refused');
      return { found, passkey, useStored: stored.catch(() => undefined) };
    },

    /** `PublicKeyCredentialCreationOptionsJSON` of one more passkey. The date in its name tells a user's passkeys apart. */
    creationOptions(userId: string, existing: readonly Passkey[], binding: Binding) {
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      return relyingParty.creationOptions(
        challenges.issue(binding),
        { handle: handleOf(userId), name: `SVC Identity, ${today}` },
        existing.map(({ credentialId }) => credentialId),
      );
    },

    /**
     * Stores the passkey that a browser has made. A user who would be deleted after a day is kept for longer now.
     * @param text the browser's `RegistrationResponseJSON`
     * @throws ApiError `passkey_refused`
     */
    async save(text: string, userId: string, binding: Binding): Promise<void> {
      const answer = readCreation(text);
      const issuedAt = answer && challenges.check(binding, answer.challenge);
      if (!answer || issuedAt === undefined) throw refusal('save', 'refused');
      const credential = await relyingParty.verifyCreation(answer, answer.challenge);
      const user = credential && (await users.find(userId));
      if (!credential || !user) throw refusal('save', 'refused');
      if ((await store.ofUser(userId)).length >= mostPasskeys) throw refusal('save', 'refused');
      const purgeAt = keepUser.endWithPasskey(user);
      const passkey: Passkey = {
        ...credential,
        _id: idOf(credential.credentialId),
        userId,
        mode: user.mode,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        createdAt: new Date(clock.now()),
        answeredAt: issuedAt,
        ...givenFields({ purgeAt }),
      };
      const isNew = await store.insert(passkey);
      // The browser may send the same answer again. The passkey is then stored already, for the same user.
      const isOwn = isNew || (await store.find(passkey._id))?.userId === userId;
      if (!isOwn) throw refusal('save', 'refused');
      // The passkey is stored first: a user without a passkey must not be kept longer.
      if (purgeAt) await keepUser.keepUntil(userId, purgeAt);
      if (isNew) onCeremony('save', 'done');
    },

    /** Removes a passkey. A user who was kept only for passkeys is deleted within a day. @throws ApiError `not_found` */
    async remove(userId: string, passkeyId: string, actor: Actor): Promise<void> {
      const found = await store.ofUser(userId);
      const others = found.filter(({ _id }) => _id !== passkeyId);
      if (others.length === found.length) throw noPasskeyError(userId, passkeyId);
      endDryRun(actor);
      // Before the removal, so that an interruption leaves no user who is kept without a passkey.
      if (others.length === 0) await keepUser.keepOneDay(userId);
      if (!(await store.remove(passkeyId))) throw noPasskeyError(userId, passkeyId);
      // Another passkey may have been removed at the same time.
      if (others.length > 0 && (await store.ofUser(userId)).length === 0) await keepUser.keepOneDay(userId);
    },

    /**
     * The mark of a user, a cookie of the browser in which they saved a passkey, or chose "Not now". It only suppresses
     * a question, so 96 bits are enough.
     */
    markOf: (userId: string) => keyed(key, ['passkey mark', userId]).toString('base64url').slice(0, 16),
  };
}
export type Passkeys = ReturnType<typeof createPasskeys>;
