import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type IdentityWalletSettings,
  IdentityWalletSources,
} from '../../../contracts/identity-wallet-sources.ts';
import type { Given } from './secret-files.ts';
import { readSourceList, SourceFault } from './source-config.ts';

const isPem = (text: string) => text.includes('-----BEGIN ');

/** The text, if it is PEM; otherwise the contents of the file that it names. */
const pemOf = (text: string, what: string): string => (isPem(text) ? text : readText(text, what));

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SourceFault(`${what} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** @throws SourceFault unless the text has certificates that can be parsed */
function checkCertificates(pem: string, what: string): void {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new SourceFault(`${what}: it contains no PEM certificate`);
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw new SourceFault(`${what}: a certificate in it is malformed`);
  }
}

/** Identity wallets refuse requests that are signed with a self-signed certificate (HAIP 1.0, 5). */
function refuseSelfSigned(pem: string, what: string): void {
  const certificate = new X509Certificate(pem);
  if (certificate.verify(certificate.publicKey)) {
    throw new SourceFault(`${what}: the first certificate is self-signed; wallets need one of an authority`);
  }
}

/** @throws SourceFault unless the private key is on P-256 and belongs to the first certificate */
function checkKey(pem: string, certificates: string, what: string): void {
  try {
    const key = createPrivateKey(pem);
    if (!new X509Certificate(certificates).checkPrivateKey(key)) {
      throw new SourceFault(`${what} does not belong to the certificate`);
    }
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new SourceFault(`${what} is not on P-256`);
  } catch (error) {
    if (error instanceof SourceFault) throw error;
    throw new SourceFault(`${what} is not a private key in PEM`);
  }
}

type Source = ReturnType<typeof IdentityWalletSources.parse>[number];

/** Reads the certificates and the key with which requests to wallets are signed. */
function accessOf({ name, access }: Source, environment: Given): IdentityWalletSettings['access'] {
  if (!access) return undefined;
  const { key: keySetting, clientId } = access;
  const certificates = pemOf(access.certificates, `${name}: access.certificates`);
  checkCertificates(certificates, `${name}: access.certificates`);
  refuseSelfSigned(certificates, `${name}: access.certificates`);
  const keyOrPath = typeof keySetting === 'object' ? environment[keySetting.env] : keySetting;
  if (!keyOrPath) throw new SourceFault(`${name}: the variable of access.key is not set`);
  const key = pemOf(keyOrPath, `${name}: access.key`);
  checkKey(key, certificates, `${name}: access.key`);
  return { certificates, key, clientId };
}

/**
 * Checks the trust anchors of a source: the certificates of authorities, or a VICAL, which is a signed list of authorities. A
 * VICAL is only read. Its signature is verified later, because an expired list must not stop the server.
 */
function checkAnchors({ name, trustAnchors }: Source): void {
  const what = `${name}: trustAnchors`;
  if (typeof trustAnchors === 'string') {
    checkCertificates(pemOf(trustAnchors, what), what);
  } else {
    readText(trustAnchors.vical, `${what}.vical`);
    checkCertificates(pemOf(trustAnchors.providers, `${what}.providers`), `${what}.providers`);
  }
}

/**
 * Reads SVC_IDENTITY_WALLET_SOURCES: a JSON list, or the path of a file with one. Reads and checks certificates and
 * keys. A file of trust anchors is only checked, because it is read again while the server runs.
 * @throws SourceFault, whose message contains no secret
 */
export function readIdentityWalletSources(
  text: string | undefined,
  environment: Given,
): readonly IdentityWalletSettings[] {
  return readSourceList(text, IdentityWalletSources).map((source) => {
    checkAnchors(source);
    return { ...source, access: accessOf(source, environment) };
  });
}
