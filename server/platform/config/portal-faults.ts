import { relyingPartyFault } from '../webauthn/relying-party.ts';

/** Why members cannot sign in by passkey at the base URL, where the portal is on. A base URL that is malformed is another fault. */
export function portalFaults(given: Readonly<Record<string, string | undefined>>): string[] {
  const { SVC_PORTAL: portal = 'off', SVC_BASE_URL: baseUrl } = given;
  if (!['on', 'true', '1'].includes(portal) || !baseUrl || !URL.canParse(baseUrl)) return [];
  const fault = relyingPartyFault(new URL(baseUrl).hostname, baseUrl);
  return fault === undefined ? [] : [`SVC_PORTAL: ${fault}`];
}
