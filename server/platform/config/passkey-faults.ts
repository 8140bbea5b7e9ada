import { relyingPartyFault } from '../webauthn/relying-party.ts';

type Given = Readonly<Record<string, string | undefined>>;

const isOn = (text: string | undefined) => text !== undefined && ['on', 'true', '1'].includes(text);

/**
 * Why passkeys of members or users cannot work with the base URL, if they are on. A malformed base URL is reported
 * elsewhere.
 */
export function passkeyFaults(given: Given): string[] {
  const {
    SVC_PORTAL: portal,
    SVC_PASSKEYS: passkeys,
    SVC_PASSKEY_RP_ID: rpId,
    SVC_BASE_URL: baseUrl,
  } = given;
  if (!baseUrl || !URL.canParse(baseUrl)) return [];
  const { hostname } = new URL(baseUrl);
  const faults = [
    { name: 'SVC_PORTAL', fault: isOn(portal) ? relyingPartyFault(hostname, baseUrl) : undefined },
    {
      name: rpId ? 'SVC_PASSKEY_RP_ID' : 'SVC_PASSKEYS',
      // Unset without a relying party, passkeys are off if they cannot work.
      fault: isOn(passkeys ?? (rpId && 'on')) ? relyingPartyFault(rpId || hostname, baseUrl) : undefined,
    },
  ];
  return faults.flatMap(({ name, fault }) => (fault === undefined ? [] : [`${name}: ${fault}`]));
}

/** The relying party of users' passkeys (WebAuthn); undefined if they are off, by choice or because an IP address has none. */
export function readPasskeyRpId(
  env: { SVC_PASSKEYS?: boolean | undefined; SVC_PASSKEY_RP_ID?: string | undefined },
  baseUrl: string,
): string | undefined {
  const rpId = env.SVC_PASSKEY_RP_ID ?? new URL(baseUrl).hostname;
  const isEnabled = env.SVC_PASSKEYS ?? relyingPartyFault(rpId, baseUrl) === undefined;
  return isEnabled ? rpId : undefined;
}
