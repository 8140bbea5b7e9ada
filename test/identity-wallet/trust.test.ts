import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deriveKeyPair } from '../../server/identity-wallet/protocol/derived-key.ts';
import { PresentationRefused } from '../../server/identity-wallet/refused.ts';
import {
  buildCertificate,
  type CertificateContent,
  toPem,
} from '../../server/identity-wallet/test-wallet/certificate-builder.ts';
import {
  documentSigner,
  parseCertificate,
  validatePath,
} from '../../server/identity-wallet/trust/certificates.ts';
import { now } from './attested.ts';

const day = 86_400_000;
const seed = randomBytes(32);
const keyOf = (name: string) => deriveKeyPair(seed, [name]);
const subjectOf = (name: string) => ({ country: 'EU', name });
const validity = { notBefore: now - day, notAfter: now + day };

function make(name: string, by: string, changes: Partial<CertificateContent> = {}): Buffer {
  return buildCertificate({
    subject: subjectOf(name),
    key: keyOf(name),
    issuer: { subject: subjectOf(by), key: keyOf(by) },
    ...validity,
    ...changes,
  });
}
const root = (changes: Partial<CertificateContent> = {}) =>
  make('root', 'root', { isAuthority: true, ...changes });
const signer = (by: string, changes: Partial<CertificateContent> = {}) =>
  make('signer', by, { purposes: [documentSigner], ...changes });

function validate(path: Buffer[], anchor = root(), at = now): string {
  try {
    validatePath(path, { anchors: [parseCertificate(anchor)], purposes: [documentSigner], now: at });
    return 'valid';
  } catch (error) {
    if (error instanceof PresentationRefused) return error.message;
    throw error;
  }
}

describe('a certificate path', () => {
  it('is valid to an anchor directly, with the certificate of the anchor, and through an intermediate authority', () => {
    expect(validate([signer('root')])).toBe('valid');
    expect(validate([signer('root'), root()])).toBe('valid');
    expect(validate([signer('middle'), make('middle', 'root', { isAuthority: true })])).toBe('valid');
  });

  const middle = (changes: Partial<CertificateContent> = {}) =>
    make('middle', 'root', { isAuthority: true, ...changes });
  const impostor = buildCertificate({
    subject: subjectOf('root'),
    key: keyOf('impostor'),
    ...validity,
    isAuthority: true,
  });

  const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const weakCurve = generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey;
  const weakMiddle = { subject: subjectOf('middle'), key: weakCurve };

  const refusals: [what: string, outcome: () => unknown, expected: string][] = [
    ['an unknown root', () => validate([signer('other')]), 'unknown issuer'],
    [
      'a root of the same name with another key',
      () => validate([signer('root')], impostor),
      'unknown issuer',
    ],
    [
      'a signature by another key',
      () =>
        validate([
          make('signer', 'root', {
            issuer: { subject: subjectOf('root'), key: keyOf('x') },
            purposes: [documentSigner],
          }),
        ]),
      'unknown issuer',
    ],
    [
      'an extended key usage for other purposes',
      () => validate([signer('root', { purposes: ['1.3.6.1.5.5.7.3.1'] })]),
      'issuer certificate unusable: extended key usage without 1.0.18013.5.1.2',
    ],
    [
      'no extended key usage',
      () => validate([make('signer', 'root')]),
      'issuer certificate unusable: extended key usage without 1.0.18013.5.1.2',
    ],
    [
      'a key usage without signatures',
      () => validate([signer('root', { usages: 4 })]),
      'issuer certificate unusable: key usage without digitalSignature',
    ],
    [
      'an expired signer',
      () => validate([signer('root', { notAfter: now - 61_000 })]),
      'issuer certificate unusable: expired',
    ],
    [
      'a signer from the future',
      () => validate([signer('root', { notBefore: now + 61_000 })]),
      'issuer certificate unusable: not yet valid',
    ],
    [
      'an unknown critical extension',
      () => validate([signer('root', { unknownCritical: ['1.2.3.4'] })]),
      'issuer certificate unusable: critical extension 1.2.3.4',
    ],
    [
      'an RSA key under 2,048 bits',
      () => validate([signer('root', { key: weakRsa })]),
      'issuer certificate unusable: RSA key under 2048 bits',
    ],
    [
      'a key on a curve under 256 bits',
      () => validate([signer('root', { key: weakCurve })]),
      'issuer certificate unusable: key on a curve under 256 bits',
    ],
    [
      'a weak key of its intermediate authority',
      () => validate([signer('middle', { issuer: weakMiddle }), middle({ key: weakCurve })]),
      'issuer certificate unusable: key on a curve under 256 bits',
    ],
    [
      'name constraints of its root, which are not critical',
      () => validate([signer('root')], root({ constrainsNames: { critical: false } })),
      'issuer certificate unusable: name constraints, which are not supported',
    ],
    [
      'critical name constraints of its root',
      () => validate([signer('root')], root({ constrainsNames: { critical: true } })),
      'issuer certificate unusable: name constraints, which are not supported',
    ],
    [
      'an authority as a signer',
      () => validate([signer('root', { isAuthority: true, usages: 1 | 32 })]),
      'issuer certificate unusable: a certificate authority must not sign attestations',
    ],
    [
      'an intermediate certificate that is no authority',
      () => validate([signer('middle'), make('middle', 'root')]),
      'issuer certificate unusable: not a certificate authority',
    ],
    [
      'an intermediate authority that may not issue',
      () => validate([signer('middle'), middle({ usages: 1 })]),
      'issuer certificate unusable: key usage without keyCertSign',
    ],
    [
      'an expired intermediate authority',
      () => validate([signer('middle'), middle({ notAfter: now - 61_000 })]),
      'issuer certificate unusable: expired',
    ],
    [
      'a path longer than its root allows',
      () => validate([signer('middle'), middle()], root({ pathLength: 0 })),
      'issuer certificate unusable: path too long',
    ],
    [
      'an expired root',
      () => validate([signer('root')], root({ notAfter: now - 61_000 })),
      'issuer certificate unusable: expired',
    ],
    [
      'a missing intermediate certificate',
      () => validate([signer('gone'), middle()]),
      'unknown issuer: broken path',
    ],
    ['no certificate', () => validate([]), 'issuer certificate unusable: 0 certificates'],
    [
      'five certificates',
      () => validate([signer('root'), root(), root(), root(), root()]),
      'issuer certificate unusable: 5 certificates',
    ],
    [
      'the anchor itself as a signer',
      () => validate([root()]),
      'issuer certificate unusable: a certificate authority must not sign attestations',
    ],
  ];
  const cases = refusals.map(([what, outcome, expected]) => [what, expected, outcome] as const);

  it.each(cases)('is refused with %s, as "%s"', (_what, expected, outcome) => {
    expect(outcome()).toBe(expected);
  });

  it('is valid if it ends at a renewed anchor whose earlier certificate has expired', () => {
    const expired = root({ notAfter: now - 61_000 });
    const both = [expired, root()].map((each) => parseCertificate(each));
    const trusted = { anchors: both, purposes: [documentSigner], now };
    expect(() => validatePath([signer('root')], trusted)).not.toThrow();
  });

  it.each<[string, (der: Buffer) => Buffer]>([
    ['is PEM', (der) => Buffer.from(toPem(der))],
    ['has a byte after it', (der) => Buffer.concat([der, Buffer.from([0])])],
    ['has another certificate after it', (der) => Buffer.concat([der, der])],
  ])('is refused if a certificate %s', (_what, changed) => {
    const expected = 'issuer certificate unusable: it is not one certificate in DER';
    expect(validate([changed(signer('root'))])).toBe(expected);
    expect(validate([signer('middle'), changed(middle())])).toBe(expected);
  });

  it('is refused as "issuer certificate unusable" if it contains bytes that are no certificate', () => {
    expect(validate([Buffer.from('no certificate')])).toMatch(/^issuer certificate unusable/);
  });
});
