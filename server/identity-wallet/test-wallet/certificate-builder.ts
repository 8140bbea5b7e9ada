import { createHash, createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectKeyIdentifier,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
} from '@peculiar/asn1-x509';

/** The content of a certificate of the test issuer. Times in milliseconds since the epoch. */
export interface CertificateContent {
  subject: { country?: string | undefined; name: string };
  /** A private P-256 key. */
  key: KeyObject;
  /** Absent for a certificate that signs itself. */
  issuer?: { subject: CertificateContent['subject']; key: KeyObject };
  notBefore: number;
  notAfter: number;
  isAuthority?: boolean;
  pathLength?: number;
  /** The key usages. The default depends on whether it is an authority. */
  usages?: number;
  purposes?: readonly string[];
  constrainsNames?: { critical: boolean };
  /** Object identifiers of extensions that are critical and that no verifier knows. */
  unknownCritical?: readonly string[];
}

/** Object identifiers of the parts of a name. */
const countryName = '2.5.4.6';
const commonName = '2.5.4.3';

const ecdsaWithSha256 = () => new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });
const attribute = (type: string, value: AttributeValue) =>
  new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value })]);
const nameOf = ({ country, name }: CertificateContent['subject']) =>
  new Name([
    ...(country ? [attribute(countryName, new AttributeValue({ printableString: country }))] : []),
    attribute(commonName, new AttributeValue({ utf8String: name })),
  ]);

const publicInfo = (key: KeyObject) =>
  AsnConvert.parse(createPublicKey(key).export({ format: 'der', type: 'spki' }), SubjectPublicKeyInfo);
const keyIdentifier = (key: KeyObject) =>
  createHash('sha1')
    .update(new Uint8Array(publicInfo(key).subjectPublicKey))
    .digest();
const extension = (extnID: string, value: unknown, critical = false) =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
const criticalExtension = (extnID: string, value: unknown) => extension(extnID, value, true);

function extensionsOf(content: CertificateContent): Extension[] {
  const { key, issuer, isAuthority = false, pathLength, purposes, unknownCritical = [] } = content;
  const { constrainsNames } = content;
  const usages = content.usages ?? (isAuthority ? KeyUsageFlags.keyCertSign : KeyUsageFlags.digitalSignature);
  const issuerIdentifier = new KeyIdentifier(keyIdentifier(issuer?.key ?? key));
  const constraints = new BasicConstraints({ cA: true });
  if (pathLength !== undefined) constraints.pathLenConstraint = pathLength;
  const anyValue = new OctetString(new Uint8Array([1]));
  return [
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyIdentifier(key))),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: issuerIdentifier })),
    criticalExtension(id_ce_keyUsage, new KeyUsage(usages)),
    ...(isAuthority ? [criticalExtension(id_ce_basicConstraints, constraints)] : []),
    ...(purposes ? [criticalExtension(id_ce_extKeyUsage, new ExtendedKeyUsage([...purposes]))] : []),
    ...(constrainsNames
      ? [extension(id_ce_nameConstraints, new NameConstraints(), constrainsNames.critical)]
      : []),
    ...unknownCritical.map((id) => criticalExtension(id, anyValue)),
  ];
}

/** Builds an X.509 certificate in DER. The serial number is derived from the key and the start of the validity. */
export function buildCertificate(content: CertificateContent): Buffer {
  const { subject, key, issuer = content, notBefore, notAfter } = content;
  const serial = createHash('sha256')
    .update(keyIdentifier(key))
    .update(`${notBefore}`)
    .digest()
    .subarray(0, 16);
  // The number must be positive and encoded without leading zeros. So the first bit is 0, and the first byte is not.
  serial[0] = (serial[0] ?? 0) & 0x7f || 1;
  const tbs = new TBSCertificate({
    version: 2,
    serialNumber: new Uint8Array(serial).buffer,
    signature: ecdsaWithSha256(),
    issuer: nameOf(issuer.subject),
    validity: new Validity({ notBefore: new Date(notBefore), notAfter: new Date(notAfter) }),
    subject: nameOf(subject),
    subjectPublicKeyInfo: publicInfo(key),
    extensions: new Extensions(extensionsOf(content)),
  });
  const signed = Buffer.from(AsnConvert.serialize(tbs));
  const certificate = new Certificate({
    tbsCertificate: tbs,
    signatureAlgorithm: ecdsaWithSha256(),
    signatureValue: new Uint8Array(sign('sha256', signed, issuer.key)).buffer,
  });
  return Buffer.from(AsnConvert.serialize(certificate));
}

export const toPem = (der: Uint8Array): string => new X509Certificate(der).toString();
