import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import { type Certificate, isSelfSigned, parsePem } from './trust/certificates.ts';

/** The certificates and the key by which this relying party identifies itself to identity wallets. */
export interface RelyingPartyAccess {
  clientId: string;
  key: KeyObject;
  /** The certificate of this key, then intermediate ones. No root: identity wallets refuse requests with a root (HAIP 1.0, 5). */
  certificates: readonly Certificate[];
}

/** Reads the access certificate. @throws Error if it does not name the host, which the client id `x509_san_dns` requires */
export function accessOf(
  given: NonNullable<IdentityWalletSettings['access']>,
  baseUrl: string,
): RelyingPartyAccess {
  const certificates = parsePem(given.certificates).filter((certificate) => !isSelfSigned(certificate));
  const [leaf] = certificates;
  if (!leaf) throw new Error('no access certificate');
  const { hostname } = new URL(baseUrl);
  const key = createPrivateKey(given.key);
  if (given.clientId === 'x509_hash') {
    const hash = createHash('sha256').update(leaf.x509.raw).digest('base64url');
    return { clientId: `x509_hash:${hash}`, key, certificates };
  }
  // Only subject alternative names count, not the common name of the subject.
  const isForHost = leaf.x509.checkHost(hostname, { subject: 'never' }) !== undefined;
  if (!isForHost) throw new Error(`the access certificate is not for ${hostname}`);
  return { clientId: `x509_san_dns:${hostname}`, key, certificates };
}
