import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  BasicConstraints,
  Certificate as CertificateStructure,
  ExtendedKeyUsage,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  SubjectKeyIdentifier,
  type Time,
} from '@peculiar/asn1-x509';
import { PresentationRefused } from '../refused.ts';
import { hasBegun, isOver } from './validity.ts';

/** The extended key usage of a certificate that may sign mobile documents (ISO/IEC 18013-5, B.1.4). */
export const documentSigner = '1.0.18013.5.1.2';

/** Key usages: `signs` is digital signature, `commits` is content commitment (non-repudiation). */
export type Usage = 'signs' | 'commits';

/** An X.509 certificate with the fields that path validation (RFC 5280 6.1) needs. Times in milliseconds since the epoch. */
export interface Certificate {
  x509: X509Certificate;
  notBefore: number;
  notAfter: number;
  isAuthority: boolean;
  /** How many intermediate certificates may follow this one; undefined for any number. */
  pathLength: number | undefined;
  /** The allowed key usages. Undefined if the certificate does not restrict them. */
  usages: Readonly<Record<Usage | 'issues', boolean>> | undefined;
  /** The subject key identifier (RFC 5280 4.2.1.2). Undefined if the certificate has none. */
  keyIdentifier: Uint8Array | undefined;
  purposes: readonly string[];
  /** Whether it limits the names in certificates below it. This code does not check such limits. */
  constrainsNames: boolean;
  /** Why its key is too weak; undefined if it is not. */
  keyFault: string | undefined;
  /** Critical extensions that this code does not know. */
  unknownCritical: readonly string[];
}

/** ECDSA and RSA with SHA-256, SHA-384 or SHA-512 (RFC 5758, RFC 4055). */
const signatureAlgorithms = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecdsaWithSha384: '1.2.840.10045.4.3.3',
  ecdsaWithSha512: '1.2.840.10045.4.3.4',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  rsaWithSha384: '1.2.840.113549.1.1.12',
  rsaWithSha512: '1.2.840.113549.1.1.13',
};
/** The extensions that this code checks. */
const knownExtensions: readonly string[] = [
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
];
/** Bits of the first byte of a key usage (RFC 5280 4.2.1.3). */
const usageBits = { digitalSignature: 0x80, contentCommitment: 0x40, keyCertSign: 0x04 };
/** The names of key usages in RFC 5280, for refusals. */
const usageNames = { signs: 'digitalSignature', commits: 'contentCommitment' } as const;

/** The library's `getTime` returns a Date. */
const millisecondsOf = (time: Time): number => time.getTime().getTime();

/** The fewest bits of keys that BSI TR-02102 and NIST SP 800-57 accept. */
const fewestBits = { rsa: 2_048, ec: 256 };

/** Returns why a key is too weak; undefined if it is not. The name of a curve states its bits, as in `secp384r1`. */
function keyFaultOf(x509: X509Certificate): string | undefined {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = x509.publicKey;
    if (type === 'ec') {
      const bits = Number(/[1-9]\d{2}/.exec(details?.namedCurve ?? '')?.[0] ?? 0);
      return bits < fewestBits.ec ? `key on a curve under ${fewestBits.ec} bits` : undefined;
    }
    return (details?.modulusLength ?? 0) < fewestBits.rsa
      ? `RSA key under ${fewestBits.rsa} bits`
      : undefined;
  } catch {
    return 'unknown kind of key';
  }
}

/** Parses a certificate. @throws Error if `der` is not a certificate, or uses an algorithm that is not accepted */
export function parseCertificate(der: Uint8Array): Certificate {
  const x509 = new X509Certificate(der);
  // The constructor also takes PEM, and ignores bytes after the certificate.
  if (!x509.raw.equals(der)) throw new Error('it is not one certificate in DER');
  const { tbsCertificate: tbs, signatureAlgorithm } = AsnConvert.parse(x509.raw, CertificateStructure);
  if (!Object.values(signatureAlgorithms).includes(signatureAlgorithm.algorithm)) {
    throw new Error(`signature algorithm ${signatureAlgorithm.algorithm}`);
  }
  const extensions = [...(tbs.extensions ?? [])];
  const extension = <T>(id: string, type: new () => T): T | undefined => {
    const encoded = extensions.find(({ extnID }) => extnID === id)?.extnValue;
    return encoded && AsnConvert.parse(encoded, type);
  };
  const constraints = extension(id_ce_basicConstraints, BasicConstraints);
  const usage = extension(id_ce_keyUsage, KeyUsage);
  const keyIdentifier = extension(id_ce_subjectKeyIdentifier, SubjectKeyIdentifier);
  const [firstByte = 0] = usage ? new Uint8Array(usage.value) : [];
  const allows = (bit: number) => (firstByte & bit) !== 0;
  return {
    x509,
    notBefore: millisecondsOf(tbs.validity.notBefore),
    notAfter: millisecondsOf(tbs.validity.notAfter),
    isAuthority: constraints?.cA === true,
    pathLength: constraints?.pathLenConstraint,
    usages: usage && {
      signs: allows(usageBits.digitalSignature),
      commits: allows(usageBits.contentCommitment),
      issues: allows(usageBits.keyCertSign),
    },
    keyIdentifier: keyIdentifier && new Uint8Array(keyIdentifier.buffer),
    purposes: [...(extension(id_ce_extKeyUsage, ExtendedKeyUsage) ?? [])],
    constrainsNames: extensions.some(({ extnID }) => extnID === id_ce_nameConstraints),
    keyFault: keyFaultOf(x509),
    unknownCritical: extensions
      .filter(({ critical, extnID }) => critical && !knownExtensions.includes(extnID))
      .map(({ extnID }) => extnID),
  };
}

/** Returns the country in the name of the certificate's owner, such as `DE`. Undefined if there is none. */
export const countryOf = ({ x509 }: Certificate): string | undefined =>
  /^C=(?<country>[A-Z]{2})$/m.exec(x509.subject)?.groups?.['country'];

/** Returns the certificates in a PEM text, in their order. @throws Error if the text has none */
export function parsePem(text: string): Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it contains no PEM certificate');
  return blocks.map((block) => parseCertificate(new X509Certificate(block).raw));
}

/** Whether the names of two certificates match, and the key of `issuer` has signed `subject`. */
const issues = (issuer: Certificate, subject: Certificate) =>
  subject.x509.checkIssued(issuer.x509) && subject.x509.verify(issuer.x509.publicKey);

export const isSelfSigned = ({ x509 }: Certificate): boolean => x509.verify(x509.publicKey);

const same = (a: Certificate, b: Certificate) => a.x509.raw.equals(b.x509.raw);

/** Returns why a certificate cannot be a trust anchor at the time `now`; undefined if it can. */
export function authorityFault(certificate: Certificate, now: number): string | undefined {
  if (!certificate.isAuthority) return 'not a certificate authority';
  if (!certificate.usages?.issues) return 'key usage without keyCertSign';
  return commonFault(certificate, now);
}

/** Returns a fault that neither authorities nor signers may have. An unknown critical extension is one (RFC 5280 4.2). */
function commonFault(certificate: Certificate, now: number) {
  const { notBefore, notAfter, keyFault, constrainsNames } = certificate;
  const [unknown] = certificate.unknownCritical;
  if (!hasBegun(notBefore, now)) return 'not yet valid';
  if (isOver(notAfter, now)) return 'expired';
  if (keyFault !== undefined) return keyFault;
  if (constrainsNames) return 'name constraints, which are not supported';
  return unknown === undefined ? undefined : `critical extension ${unknown}`;
}

function signerFault(signer: Certificate, { purposes, usage = 'signs' }: Trust): string | undefined {
  if (signer.isAuthority) return 'a certificate authority must not sign attestations';
  if (!signer.usages?.[usage]) return `key usage without ${usageNames[usage]}`;
  const hasPurpose = !purposes || purposes.some((purpose) => signer.purposes.includes(purpose));
  return hasPurpose ? undefined : `extended key usage without ${purposes.join(' or ')}`;
}

const longestPath = 4;
/** The most characters of a parser's message in a refusal. */
const longestMessage = 80;

interface Trust {
  anchors: readonly Certificate[];
  /** The signer must have one of these extended key usages. Undefined if any is accepted. */
  purposes?: readonly string[] | undefined;
  /** The key usage that the signer must have. The default is digital signature. */
  usage?: Usage;
  now: number;
}

function parsePath(path: readonly Uint8Array[]): Certificate[] {
  if (path.length === 0 || path.length > longestPath)
    throw new PresentationRefused('issuer certificate unusable', `${path.length} certificates`);
  try {
    return path.map(parseCertificate);
  } catch (error) {
    const { message } = error as Error;
    throw new PresentationRefused('issuer certificate unusable', message.slice(0, longestMessage));
  }
}

/** Returns the trust anchor that issued a certificate. It may have a fault, which `checkAuthorities` then names. */
function anchorOf(subject: Certificate, { anchors, now }: Trust): Certificate {
  const issuers = anchors.filter((anchor) => issues(anchor, subject));
  // An authority that was renewed with the same key has two certificates for a while. Prefer one without a fault.
  const anchor = issuers.find((issuer) => !authorityFault(issuer, now)) ?? issuers[0];
  if (!anchor) throw new PresentationRefused('unknown issuer');
  return anchor;
}

/** Checks the authorities above a signer, the nearest first. Each must have issued the certificate before it. */
function checkAuthorities(signer: Certificate, authorities: readonly Certificate[], now: number): void {
  let subject = signer;
  for (const [authoritiesBelow, authority] of authorities.entries()) {
    const isTooLong = authority.pathLength !== undefined && authority.pathLength < authoritiesBelow;
    const fault = authorityFault(authority, now) ?? (isTooLong ? 'path too long' : undefined);
    if (fault) throw new PresentationRefused('issuer certificate unusable', fault);
    if (!issues(authority, subject)) throw new PresentationRefused('unknown issuer', 'broken path');
    subject = authority;
  }
}

/**
 * Validates a path from the signer's certificate to one of the trust anchors (RFC 5280 6.1). Checks signatures, names,
 * validity, basic constraints, path length, key usage and extended key usage. The path must be complete and in order, because
 * no certificate is fetched.
 * @returns the signer's certificate
 * @throws PresentationRefused
 */
export function validatePath(path: readonly Uint8Array[], trust: Trust): Certificate {
  const { anchors, now } = trust;
  const certificates = parsePath(path);
  const last = certificates.at(-1);
  // A path may end with the anchor itself, which is then removed from the path.
  if (certificates.length > 1 && last && anchors.some((anchor) => same(anchor, last))) certificates.pop();
  const [signer, ...authorities] = certificates;
  if (!signer) throw new PresentationRefused('issuer certificate unusable', 'no certificate');
  const anchor = anchorOf(authorities.at(-1) ?? signer, trust);
  checkAuthorities(signer, [...authorities, anchor], now);
  const fault = commonFault(signer, now) ?? signerFault(signer, trust);
  if (fault) throw new PresentationRefused('issuer certificate unusable', fault);
  return signer;
}
