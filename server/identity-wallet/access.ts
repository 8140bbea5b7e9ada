import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import { type Certificate, isSelfSigned, parsePem } from './certificates.ts';

/** How this relying party shows identity wallets who it is. */
export interface RelyingPartyAccess {
  clientId: string;
  key: KeyObject;
  /** The certificate of this key, then the intermediate ones. No root: identity wallets refuse requests that bring one (HAIP 1.0, 5). */
  certificates: readonly Certificate[];
}

/** @throws where the certificate does not name the host, which `x509_san_dns` needs */
export function accessOf(
  given: NonNullable<IdentityWalletSettings['access']>,
  baseUrl: string,
): RelyingPartyAccess {
  const certificates = parsePem(given.certificates).filter((each) => !isSelfSigned(each));
  const [own] = certificates;
  if (!own) throw new Error('no access certificate');
  const { hostname } = new URL(baseUrl);
  const hash = createHash('sha256').update(own.x509.raw).digest('base64url');
  if (given.clientId === 'x509_san_dns' && own.x509.checkHost(hostname, { subject: 'never' }) === undefined) {
    throw new Error(`the access certificate is not for ${hostname}`);
  }
  const clientId = given.clientId === 'x509_hash' ? `x509_hash:${hash}` : `x509_san_dns:${hostname}`;
  return { clientId, key: createPrivateKey(given.key), certificates };
}
