import type { PasskeyKey } from '../../platform/webauthn/relying-party.ts';

export interface MemberPasskey extends Omit<PasskeyKey, 'publicKey'> {
  /** COSE_Key, base64url. */
  publicKey: string;
  /** What the member calls it. The one of an invitation has no name. */
  name?: string;
  addedAt: Date;
  lastUsedAt?: Date;
  /**
   * When the last challenge that the passkey answered was issued, in ms since 1970. Only answers to later challenges are accepted,
   * so that no answer works twice.
   */
  answeredAt: number;
}

/** The field of a member with the passkeys: a list if there are several. */
interface HasPasskeys {
  passkey?: MemberPasskey | MemberPasskey[];
}

/** The member's passkeys, the oldest first. */
export const passkeysOf = ({ passkey }: HasPasskeys): MemberPasskey[] => [passkey ?? []].flat();

export const hasPasskey = (member: HasPasskeys, id: string): boolean =>
  passkeysOf(member).some(({ credentialId }) => credentialId === id);

export const passkeyField = (passkeys: MemberPasskey[]): HasPasskeys => ({
  passkey: passkeys.length === 1 && passkeys[0] ? passkeys[0] : passkeys,
});

/** A new passkey as it is stored. Challenges of sign-ins that were issued before `now` are refused. @param now ms since 1970 */
export const newPasskey = (passkey: PasskeyKey, now: number, name?: string): MemberPasskey => ({
  ...passkey,
  publicKey: Buffer.from(passkey.publicKey).toString('base64url'),
  ...(name ? { name } : {}),
  addedAt: new Date(now),
  answeredAt: now,
});
