import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';

/** The part of a session that identity wallet requests depend on. */
export interface AskedSession {
  mode: Mode;
  claims: readonly ClaimName[];
}

export const annexC = 'org-iso-mdoc';

/** One of the `requests` of `navigator.credentials.get` (OpenID4VP 1.0, A.3; ISO/IEC TS 18013-7, annex C). */
export interface DigitalRequest {
  protocol: 'openid4vp-v1-unsigned' | 'openid4vp-v1-signed' | typeof annexC;
  data: Record<string, unknown>;
}
