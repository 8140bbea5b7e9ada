import { randomBytes } from 'node:crypto';
import { deriveKeyPair } from '../../server/identity-wallet/protocol/derived-key.ts';
import {
  buildCertificate,
  type CertificateContent,
} from '../../server/identity-wallet/test-wallet/certificate-builder.ts';
import { documentSigner, parseCertificate } from '../../server/identity-wallet/trust/certificates.ts';
import { now } from './attested.ts';

const day = 86_400_000;
const seed = randomBytes(32);
const rootKey = deriveKeyPair(seed, ['root']);
const signingKey = deriveKeyPair(seed, ['signer']);
const root = { subject: { country: 'UT', name: 'root of an own issuer' }, key: rootKey };
const rootContent = { notBefore: now - 90 * day, notAfter: now + 90 * day, isAuthority: true };
const anchor = buildCertificate({ ...root, ...rootContent });

/** The trust anchors of `ownSigner`, and of no other signer. */
export const ownAnchors = [parseCertificate(anchor)];

/**
 * Creates a document signer for one test.
 * @param changes of the signer's certificate, which is valid for 30 days before and after now
 */
export function ownSigner(changes: Partial<CertificateContent> = {}) {
  const certificate = buildCertificate({
    subject: { country: 'UT', name: 'signer of an own issuer' },
    key: signingKey,
    issuer: root,
    notBefore: now - 30 * day,
    notAfter: now + 30 * day,
    purposes: [documentSigner],
    ...changes,
  });
  return { key: signingKey, certificates: [certificate] };
}
