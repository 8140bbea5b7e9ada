import { relyingPartyFault } from '../webauthn/relying-party.ts';

interface Settings {
  /** The portal is on. Its members sign in with passkeys. */
  portal: boolean | undefined;
  /** Passkeys of users. Undefined: on, if the base URL can have passkeys. */
  passkeys: boolean | undefined;
  /** The relying party of users' passkeys. Undefined: the host of the base URL. */
  rpId: string | undefined;
  baseUrl: string;
}

/**
 * Decides whether users can have passkeys (WebAuthn).
 * @returns their relying party, undefined if passkeys are off; and why passkeys that are required cannot work
 */
export function readPasskeys({ portal, passkeys, rpId, baseUrl }: Settings): {
  rpId: string | undefined;
  faults: string[];
} {
  // The variable's own rule reports a malformed base URL.
  if (!URL.canParse(baseUrl)) return { rpId: undefined, faults: [] };
  const { hostname } = new URL(baseUrl);
  const relyingParty = rpId ?? hostname;
  const portalFault = portal ? relyingPartyFault(hostname, baseUrl) : undefined;
  const userFault = passkeys === false ? undefined : relyingPartyFault(relyingParty, baseUrl);
  const isRequired = passkeys === true || rpId !== undefined;

  const faults: string[] = [];
  if (portalFault !== undefined) faults.push(`SVC_PORTAL: ${portalFault}`);
  if (userFault !== undefined && isRequired) {
    faults.push(`${rpId === undefined ? 'SVC_PASSKEYS' : 'SVC_PASSKEY_RP_ID'}: ${userFault}`);
  }
  const isOn = passkeys !== false && userFault === undefined;
  return { rpId: isOn ? relyingParty : undefined, faults };
}
