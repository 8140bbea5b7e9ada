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
 * @returns their relying party, undefined if passkeys are off; and the faults of the variables that ask for passkeys
 */
export function readPasskeys({ portal, passkeys, rpId, baseUrl }: Settings): {
  rpId: string | undefined;
  faults: string[];
} {
  // The variable's own rule reports a malformed base URL.
  if (!URL.canParse(baseUrl)) return { rpId: undefined, faults: [] };
  const { hostname } = new URL(baseUrl);
  const faults: string[] = [];
  const portalFault = portal ? relyingPartyFault(hostname, baseUrl) : undefined;
  if (portalFault !== undefined) faults.push(`SVC_PORTAL: ${portalFault}`);
  if (passkeys === false) return { rpId: undefined, faults };

  const relyingParty = rpId ?? hostname;
  const fault = relyingPartyFault(relyingParty, baseUrl);
  if (fault === undefined) return { rpId: relyingParty, faults };
  // If no variable asks for passkeys, they are off without a fault.
  if (rpId !== undefined) faults.push(`SVC_PASSKEY_RP_ID: ${fault}`);
  else if (passkeys) faults.push(`SVC_PASSKEYS: ${fault}`);
  return { rpId: undefined, faults };
}
