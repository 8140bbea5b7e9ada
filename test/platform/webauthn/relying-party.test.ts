import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  Certificate,
  CRLDistributionPoints,
  DistributionPoint,
  DistributionPointName,
  Extension,
  GeneralName,
  id_ce_cRLDistributionPoints,
} from '@peculiar/asn1-x509';
import { SettingsService } from '@simplewebauthn/server';
import { describe, expect, it } from 'vitest';
import { buildCertificate, toPem } from '../../../server/identity-wallet/test-wallet/certificate-builder.ts';
import { challengeLifetimeMs, createChallenges } from '../../../server/platform/webauthn/challenges.ts';
import {
  createRelyingParty,
  type PasskeyKey,
  readAssertion,
  readCreation,
  relyingPartyFault,
} from '../../../server/platform/webauthn/relying-party.ts';
import { type Forgery, TestAuthenticator } from '../../harness/authenticator.ts';

const origin = 'https://id.example.com';
const party = createRelyingParty({ id: 'example.com', name: 'SVC', origin });
const challenge = randomBytes(38).toString('base64url');
const user = { handle: randomBytes(32).toString('base64url'), name: 'SVC' };

async function passkeyOf(authenticator: TestAuthenticator, forgery?: Forgery) {
  const answer = readCreation(authenticator.create(party.creationOptions(challenge, user, []), forgery));
  return answer && party.verifyCreation(answer, challenge);
}

/** A certificate from a root that is trusted for this format, with the address of a revocation list. */
function attestedBy(address: string) {
  const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rootKey = newKey();
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 60_000 };
  const issuer = { subject: { name: 'Root' }, key: rootKey };
  const root = buildCertificate({ ...issuer, ...validity, isAuthority: true });
  SettingsService.setRootCertificates({ identifier: 'apple', certificates: [toPem(root)] });
  const leaf = buildCertificate({ subject: { name: 'Key' }, key: newKey(), issuer, ...validity });
  const certificate = AsnConvert.parse(leaf, Certificate);
  const fullName = [new GeneralName({ uniformResourceIdentifier: address })];
  const point = new DistributionPoint({ distributionPoint: new DistributionPointName({ fullName }) });
  certificate.tbsCertificate.extensions?.push(
    new Extension({
      extnID: id_ce_cRLDistributionPoints,
      extnValue: new OctetString(AsnConvert.serialize(new CRLDistributionPoints([point]))),
    }),
  );
  const signed = Buffer.from(AsnConvert.serialize(certificate.tbsCertificate));
  certificate.signatureValue = new Uint8Array(sign('sha256', signed, rootKey)).buffer;
  return { fmt: 'apple', attStmt: { x5c: [Buffer.from(AsnConvert.serialize(certificate))] } };
}

async function created(authenticator: TestAuthenticator): Promise<PasskeyKey> {
  return (await passkeyOf(authenticator)) ?? expect.fail('no passkey was made');
}

describe('a new passkey that a browser sends', () => {
  it('is accepted with its key ID, counter and transports, and as synced if it has no counter', async () => {
    const authenticator = new TestAuthenticator(origin);
    const passkey = await created(authenticator);
    expect(passkey).toMatchObject({ credentialId: authenticator.id, counter: 0, transports: ['internal'] });
    expect(passkey.synced).toBe(false);
    expect((await created(new TestAuthenticator(origin, { counts: false }))).synced).toBe(true);
  });

  it('is accepted with an attestation signed by its own key', async () => {
    expect(await passkeyOf(new TestAuthenticator(origin), { attestation: 'self' })).toBeDefined();
  });

  const rsa = (bytes: number, exponent = 65_537): NonNullable<Forgery['coseKey']> => {
    const modulus = Buffer.alloc(bytes, 0xff);
    return [...coseKey(3, -257, modulus), [-2, Buffer.from(exponent.toString(16).padStart(6, '0'), 'hex')]];
  };
  const coseKey = (type: number, algorithm: number, given: number | Buffer) =>
    [
      [1, type],
      [3, algorithm],
      [-1, given],
    ] as const;

  it.each<[boolean, string, Forgery['coseKey']]>([
    [true, 'RSA with 2,048 bits', rsa(256)],
    [true, 'Ed25519', coseKey(1, -8, 6)],
    [false, 'RSA with 2,040 bits', rsa(255)],
    [false, 'RSA with 1,024 bits', rsa(128)],
    [false, 'ES256 on P-384, whose signatures are refused', coseKey(2, -7, 2)],
    [false, 'ES256 on secp256k1', coseKey(2, -7, 8)],
    [false, 'ES256 with the type of RSA', coseKey(3, -7, 1)],
    [false, 'EdDSA on P-256', coseKey(2, -8, 1)],
    [false, 'EdDSA on Ed448', coseKey(1, -8, 7)],
    [false, 'RS256 with a curve', coseKey(2, -257, 1)],
  ])('is accepted (%s) if its key is %s', async (isAccepted, _key, members = []) => {
    const passkey = await passkeyOf(new TestAuthenticator(origin), { coseKey: members });
    expect(passkey !== undefined).toBe(isAccepted);
  });

  it.each<[string, (signed: Buffer) => Buffer]>([
    ['a byte follows it', (signed) => Buffer.concat([signed, Buffer.from([0])])],
    [
      'its length has two bytes, which is BER and not DER',
      (signed) => Buffer.concat([Buffer.from([0x30, 0x81]), signed.subarray(1)]),
    ],
  ])('is refused if the signature of its attestation is encoded otherwise: %s', async (_, signature) => {
    const forgery: Forgery = { attestation: 'self', signature };
    expect(await passkeyOf(new TestAuthenticator(origin), forgery)).toBeUndefined();
  });

  it.each<[string, Forgery]>([
    ['its origin is another site', { origin: 'https://evil.example' }],
    ['its origin is a sibling domain', { origin: 'https://other.example.com' }],
    ['its relying party is another site', { rpId: 'evil.example' }],
    ['it was made in a frame of another site', { crossOrigin: true }],
    ['its device did not verify the user', { verified: false }],
    ['its type is webauthn.get, which belongs to an assertion', { type: 'webauthn.get' }],
    ['its algorithm was not requested', { algorithm: -258 }],
  ])('is refused if %s', async (_, forgery) => {
    expect(await passkeyOf(new TestAuthenticator(origin), forgery)).toBeUndefined();
  });

  it('is refused if it answers another challenge than the one that was issued', async () => {
    const options = party.creationOptions(challenge, user, []);
    const answer = readCreation(new TestAuthenticator(origin).create(options)) ?? expect.fail('unread');
    expect(await party.verifyCreation(answer, randomBytes(38).toString('base64url'))).toBeUndefined();
  });

  it('is refused if its attestation contains certificates, and no URL in them is fetched', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const attestation = attestedBy(`http://127.0.0.1:${port}/revoked`);
    expect(await passkeyOf(new TestAuthenticator(origin), { attestation })).toBeUndefined();
    server.close();
    expect(asked).toBe(0);
  });

  it('is requested as a discoverable key with user verification and without attestation', () => {
    expect(party.creationOptions(challenge, user, ['abc'])).toMatchObject({
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: 'abc', type: 'public-key' }],
      pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
    });
  });
});

describe('an assertion, by which a user signs in with a passkey,', () => {
  async function used(forgery: Forgery, stored: Partial<PasskeyKey> = {}) {
    const authenticator = new TestAuthenticator(origin);
    const passkey = { ...(await created(authenticator)), ...stored };
    const answer = readAssertion(authenticator.get(party.requestOptions(challenge), forgery));
    return answer && party.verifyAssertion(answer, challenge, passkey);
  }

  it('is accepted if it is valid, and contains the new counter', async () => {
    expect(await used({})).toEqual({ counter: 1, synced: false });
  });

  it.each<[string, Forgery, Partial<PasskeyKey>]>([
    ['its origin is another site', { origin: 'https://evil.example' }, {}],
    ['its relying party is another site', { rpId: 'evil.example' }, {}],
    ['it was made in a frame of another site', { crossOrigin: true }, {}],
    ['its device did not verify the user', { verified: false }, {}],
    ['its type is webauthn.create, which belongs to a new passkey', { type: 'webauthn.create' }, {}],
    ['its signature is wrong', { signature: randomBytes(70) }, {}],
    [
      'a byte follows its signature',
      { signature: (signed) => Buffer.concat([signed, Buffer.from([0])]) },
      {},
    ],
    [
      'its signature has a length of two bytes, which is BER and not DER',
      { signature: (signed) => Buffer.concat([Buffer.from([0x30, 0x81]), signed.subarray(1)]) },
      {},
    ],
    ['its counter is lower than the stored one', { counter: 4 }, { counter: 5 }],
    ['its counter equals the stored one', { counter: 5 }, { counter: 5 }],
    ['its key ID is not the stored one', {}, { credentialId: 'another' }],
  ])('is refused if %s', async (_, forgery, stored) => {
    expect(await used(forgery, stored)).toBeUndefined();
  });
});

describe('readAssertion and readCreation, which parse what a browser sends,', () => {
  it.each([
    ['empty', ''],
    ['null in JSON', 'null'],
    ['a list in JSON', '[]'],
    ['an object without a response', '{"id":"a"}'],
    ['an object with a space in its id', '{"id":"a b","response":{}}'],
    ['an object with an id of 2,000 characters', `{"id":"${'a'.repeat(2_000)}"}`],
  ])('return undefined if the text is %s', (_, text) => {
    expect(readAssertion(text)).toBeUndefined();
    expect(readCreation(text)).toBeUndefined();
  });
});

describe('a challenge for a passkey', () => {
  let now = 1_800_000_000_000;
  const challenges = createChallenges(randomBytes(32), { now: () => now });

  it('is valid for two minutes, and only for the purpose for which it was issued', () => {
    const issued = challenges.issue(['session', 1]);
    expect(challenges.check(['session', 1], issued)).toBe(now);
    expect(challenges.check(['session', 2], issued)).toBeUndefined();
    now += challengeLifetimeMs - 1;
    expect(challenges.check(['session', 1], issued)).toBe(now - challengeLifetimeMs + 1);
    now += 1;
    expect(challenges.check(['session', 1], issued)).toBeUndefined();
  });

  it.each([
    ['empty', ''],
    ['too short', 'AAAA'],
    ['51 characters long without a valid digest', 'A'.repeat(51)],
    ['not in base64url', '%%%'],
  ])('is refused if it is %s', (_, text) => {
    expect(challenges.check([], text)).toBeUndefined();
  });

  it('is refused if another key signed it, or if it was issued 10 s in the future', () => {
    const other = createChallenges(randomBytes(32), { now: () => now });
    expect(challenges.check([], other.issue([]))).toBeUndefined();
    const issued = challenges.issue([]);
    now -= 9_999;
    expect(challenges.check([], issued)).toBe(now + 9_999);
    now -= 1;
    expect(challenges.check([], issued)).toBeUndefined();
  });
});

describe('the relying party ID of WebAuthn', () => {
  it.each([
    ['id.example.com', 'https://id.example.com', 'the same host'],
    ['example.com', 'https://id.example.com', 'a parent domain'],
    ['localhost', 'http://localhost:8080', 'the same host'],
  ])('is accepted as %s for the base URL %s: %s', (id, at) => {
    expect(relyingPartyFault(id, at)).toBeUndefined();
  });

  it.each([
    ['com', 'https://id.example.com', 'a public suffix'],
    ['ample.com', 'https://id.example.com', 'a part of a label'],
    ['other.example.com', 'https://id.example.com', 'a sibling domain'],
    ['127.0.0.1', 'http://127.0.0.1:8080', 'an IP address'],
    ['[::1]', 'http://[::1]:8080', 'an IP address'],
    ['id.example.com', 'http://id.example.com', 'a public host without https'],
  ])('is refused as %s for the base URL %s: %s', (id, at) => {
    expect(relyingPartyFault(id, at)).toBeDefined();
  });
});
