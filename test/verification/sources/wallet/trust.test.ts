import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { encode, Tagged } from 'cborg';
import { CompactSign } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  documentSigner,
  parseCertificate,
  validatePath,
} from '../../../../server/verification/sources/wallet/certificates.ts';
import { deriveKeyPair } from '../../../../server/verification/sources/wallet/derived-key.ts';
import { PresentationRefused } from '../../../../server/verification/sources/wallet/refused.ts';
import {
  createStatusLists,
  statusListTypes,
} from '../../../../server/verification/sources/wallet/status-list.ts';
import { signEs256 } from '../../../../server/verification/test-wallet/attestations.ts';
import {
  buildCertificate,
  type CertificateContent,
} from '../../../../server/verification/test-wallet/certificate-builder.ts';
import { anchors, issuer, now, refusalOf, statusUri } from './attested.ts';

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

function judge(path: Buffer[], anchor = root(), at = now): string {
  try {
    validatePath(path, { anchors: [parseCertificate(anchor)], purposes: [documentSigner], now: at });
    return 'valid';
  } catch (error) {
    if (error instanceof PresentationRefused) return error.message;
    throw error;
  }
}

describe('a certificate path', () => {
  it('is valid from the signer to an anchor, with or without the anchor in it', () => {
    expect(judge([signer('root')])).toBe('valid');
    expect(judge([signer('root'), root()])).toBe('valid');
    expect(judge([signer('middle'), make('middle', 'root', { isAuthority: true })])).toBe('valid');
  });

  const middle = (changes: Partial<CertificateContent> = {}) =>
    make('middle', 'root', { isAuthority: true, ...changes });
  const impostor = buildCertificate({
    subject: subjectOf('root'),
    key: keyOf('impostor'),
    ...validity,
    isAuthority: true,
  });

  it.each([
    ['an unknown root', () => judge([signer('other')]), 'unknown issuer'],
    ['a root of the same name with another key', () => judge([signer('root')], impostor), 'unknown issuer'],
    [
      'a signature by another key',
      () =>
        judge([
          make('signer', 'root', {
            issuer: { subject: subjectOf('root'), key: keyOf('x') },
            purposes: [documentSigner],
          }),
        ]),
      'unknown issuer',
    ],
    [
      'no signer usage',
      () => judge([signer('root', { purposes: ['1.3.6.1.5.5.7.3.1'] })]),
      'issuer certificate unusable: extended key usage without 1.0.18013.5.1.2',
    ],
    [
      'no extended usage',
      () => judge([make('signer', 'root')]),
      'issuer certificate unusable: extended key usage without 1.0.18013.5.1.2',
    ],
    [
      'a key usage without signatures',
      () => judge([signer('root', { usages: 4 })]),
      'issuer certificate unusable: key usage without digitalSignature',
    ],
    [
      'an expired signer',
      () => judge([signer('root', { notAfter: now - 1000 })]),
      'issuer certificate unusable: expired',
    ],
    [
      'a signer from the future',
      () => judge([signer('root', { notBefore: now + 1000 })]),
      'issuer certificate unusable: not yet valid',
    ],
    [
      'an unknown critical extension',
      () => judge([signer('root', { unknownCritical: ['1.2.3.4'] })]),
      'issuer certificate unusable: critical extension 1.2.3.4',
    ],
    [
      'an authority as a signer',
      () => judge([signer('root', { isAuthority: true, usages: 1 | 32 })]),
      'issuer certificate unusable: a certificate authority must not sign attestations',
    ],
    [
      'a middle that is no authority',
      () => judge([signer('middle'), make('middle', 'root')]),
      'issuer certificate unusable: not a certificate authority',
    ],
    [
      'a middle that may not issue',
      () => judge([signer('middle'), middle({ usages: 1 })]),
      'issuer certificate unusable: key usage without keyCertSign',
    ],
    [
      'an expired middle',
      () => judge([signer('middle'), middle({ notAfter: now - 1000 })]),
      'issuer certificate unusable: expired',
    ],
    [
      'a path longer than its root allows',
      () => judge([signer('middle'), middle()], root({ pathLength: 0 })),
      'issuer certificate unusable: path too long',
    ],
    [
      'an expired root',
      () => judge([signer('root')], root({ notAfter: now - 1000 })),
      'issuer certificate unusable: expired',
    ],
    ['a gap', () => judge([signer('gone'), middle()]), 'unknown issuer: broken path'],
    ['no certificate', () => judge([]), 'issuer certificate unusable: 0 certificates'],
    [
      'too many',
      () => judge([signer('root'), root(), root(), root(), root()]),
      'issuer certificate unusable: 5 certificates',
    ],
    [
      'the anchor itself as a signer',
      () => judge([root()]),
      'issuer certificate unusable: a certificate authority must not sign attestations',
    ],
  ])('is refused with %s', (_what, outcome, expected) => {
    expect(outcome()).toBe(expected);
  });

  it('is valid by a renewed anchor beside its expired predecessor', () => {
    const expired = root({ notAfter: now - 1000 });
    const both = [expired, root()].map((each) => parseCertificate(each));
    const trusted = { anchors: both, purposes: [documentSigner], now };
    expect(() => validatePath([signer('root')], trusted)).not.toThrow();
  });

  it('is refused where it holds no certificate at all', () => {
    expect(judge([Buffer.from('no certificate')])).toMatch(/^issuer certificate unusable/);
  });
});

const trust = { anchors, now };
const list = { bits: 2, lst: deflateSync(Buffer.from([0b00100100])).toString('base64url') };

async function jwtList(claims: object = {}, header: object = {}, key = issuer.signer.key) {
  const x5c = issuer.signer.certificates.map((each) => Buffer.from(each).toString('base64'));
  const payload = { sub: statusUri, iat: now / 1000, ttl: 60, status_list: list, ...claims };
  const jwt = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', typ: 'statuslist+jwt', x5c, ...header })
    .sign(key);
  return { type: statusListTypes.jwt, body: Buffer.from(jwt) };
}

function cwtList() {
  const claims = new Map<number, unknown>([
    [2, statusUri],
    [6, now / 1000],
    [65533, { bits: 2, lst: deflateSync(Buffer.from([0b00100100])) }],
  ]);
  const payload = encode(claims);
  const headers = encode(
    new Map<number, unknown>([
      [1, -7],
      [16, statusListTypes.cwt],
    ]),
  );
  const signature = signEs256(issuer.signer.key, encode(['Signature1', headers, new Uint8Array(), payload]));
  const [certificate] = issuer.signer.certificates;
  const body = encode(new Tagged(18, [headers, new Map([[33, certificate]]), payload, signature]));
  return { type: statusListTypes.cwt, body };
}

describe('a status list', () => {
  it.each([
    ['JWT', () => jwtList()],
    ['CWT', async () => cwtList()],
  ])('as a %s tells valid, revoked and suspended apart', async (_format, fetch) => {
    const { check } = createStatusLists(fetch);
    const at = (index: number) => check({ index, uri: statusUri }, trust);
    await expect(at(0)).resolves.toBeUndefined();
    await expect(at(3)).resolves.toBeUndefined();
    await expect(at(1)).rejects.toThrow('attestation revoked');
    await expect(at(2)).rejects.toThrow('attestation revoked: suspended');
    expect(await refusalOf(at(4))).toBe('status unknown');
  });

  it('is read again when its ttl is over, and not before', async () => {
    let asked = 0;
    const { check } = createStatusLists(() => {
      asked += 1;
      return jwtList();
    });
    const at = (time: number) => check({ index: 0, uri: statusUri }, { anchors, now: time });
    await at(now);
    await at(now + 59_000);
    expect(asked).toBe(1);
    await at(now + 60_000);
    expect(asked).toBe(2);
  });

  it.each<[string, () => Promise<{ type: string; body: Uint8Array }>]>([
    ['cannot be reached', () => Promise.reject(new Error('away'))],
    ['is of another address', () => jwtList({ sub: 'https://other.test/status' })],
    ['has expired', () => jwtList({ exp: now / 1000 - 1 })],
    ['is from the future', () => jwtList({ iat: now / 1000 + 3600 })],
    ['is of another type', () => jwtList({}, { typ: 'JWT' })],
    ['is signed by another key', () => jwtList({}, {}, issuer.holderKey)],
    ['is by an unknown issuer', () => jwtList({}, { x5c: [signer('other').toString('base64')] })],
    [
      'is too large',
      () =>
        jwtList({
          status_list: { bits: 1, lst: deflateSync(Buffer.alloc(9 * 1024 * 1024)).toString('base64url') },
        }),
    ],
    ['is no list', () => jwtList({ status_list: { bits: 3, lst: '' } })],
    ['is no token', async () => ({ type: 'text/html', body: Buffer.from('<html>') })],
  ])('that %s makes an attestation not count', async (_what, fetch) => {
    const { check } = createStatusLists(fetch);
    expect(await refusalOf(check({ index: 0, uri: statusUri }, trust))).toBe('status unknown');
  });
});
