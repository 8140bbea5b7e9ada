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

describe('a new passkey', () => {
  it('is accepted, and yields its key, counter and transports', async () => {
    const authenticator = new TestAuthenticator(origin);
    const passkey = await created(authenticator);
    expect(passkey).toMatchObject({ credentialId: authenticator.id, counter: 0, transports: ['internal'] });
    expect(passkey.synced).toBe(false);
    expect((await created(new TestAuthenticator(origin, { counts: false }))).synced).toBe(true);
  });

  it('is accepted with an attestation signed by its own key', async () => {
    expect(await passkeyOf(new TestAuthenticator(origin), { attestation: 'self' })).toBeDefined();
  });

  it.each<[string, Forgery]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin in a sibling domain', { origin: 'https://other.example.com' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a frame of another site', { crossOrigin: true }],
    ['no verification of the user', { verified: false }],
    ['the type of an assertion', { type: 'webauthn.get' }],
    ['an algorithm that was not requested', { algorithm: -258 }],
  ])('is refused with %s', async (_, forgery) => {
    expect(await passkeyOf(new TestAuthenticator(origin), forgery)).toBeUndefined();
  });

  it('is refused if it answers another challenge than the one that was issued', async () => {
    const options = party.creationOptions(challenge, user, []);
    const answer = readCreation(new TestAuthenticator(origin).create(options)) ?? expect.fail('unread');
    expect(await party.verifyCreation(answer, randomBytes(38).toString('base64url'))).toBeUndefined();
  });

  it('is refused with an attestation by certificates, and no address in them is fetched', async () => {
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

describe('an assertion', () => {
  async function used(forgery: Forgery, stored: Partial<PasskeyKey> = {}) {
    const authenticator = new TestAuthenticator(origin);
    const passkey = { ...(await created(authenticator)), ...stored };
    const answer = readAssertion(authenticator.get(party.requestOptions(challenge), forgery));
    return answer && party.verifyAssertion(answer, challenge, passkey);
  }

  it('is accepted, and yields the counter', async () => {
    expect(await used({})).toEqual({ counter: 1, synced: false });
  });

  it.each<[string, Forgery, Partial<PasskeyKey>]>([
    ['another origin', { origin: 'https://evil.example' }, {}],
    ['another relying party', { rpId: 'evil.example' }, {}],
    ['a frame of another site', { crossOrigin: true }, {}],
    ['no verification of the user', { verified: false }, {}],
    ['the type of a new passkey', { type: 'webauthn.create' }, {}],
    ['a wrong signature', { signature: randomBytes(70) }, {}],
    ['a lower counter', { counter: 4 }, { counter: 5 }],
    ['an unchanged counter', { counter: 5 }, { counter: 5 }],
    ['the id of another passkey', {}, { credentialId: 'another' }],
  ])('is refused with %s', async (_, forgery, stored) => {
    expect(await used(forgery, stored)).toBeUndefined();
  });

  it.each(['', 'null', '[]', '{"id":"a"}', '{"id":"a b","response":{}}', `{"id":"${'a'.repeat(2_000)}"}`])(
    'cannot be read from the malformed text %j',
    (text) => {
      expect(readAssertion(text)).toBeUndefined();
      expect(readCreation(text)).toBeUndefined();
    },
  );
});

describe('a challenge', () => {
  let now = 1_800_000_000_000;
  const challenges = createChallenges(randomBytes(32), { now: () => now });

  it('is valid for two minutes, for its own purpose only', () => {
    const issued = challenges.issue(['session', 1]);
    expect(challenges.check(['session', 1], issued)).toBe(now);
    expect(challenges.check(['session', 2], issued)).toBeUndefined();
    now += challengeLifetimeMs - 1;
    expect(challenges.check(['session', 1], issued)).toBe(now - challengeLifetimeMs + 1);
    now += 1;
    expect(challenges.check(['session', 1], issued)).toBeUndefined();
  });

  it.each(['', 'AAAA', 'A'.repeat(51), '%%%'])('is refused if it is the malformed text %j', (text) => {
    expect(challenges.check([], text)).toBeUndefined();
  });

  it('is refused if another key issued it, or if its time is more than 9,999 ms in the future', () => {
    const other = createChallenges(randomBytes(32), { now: () => now });
    expect(challenges.check([], other.issue([]))).toBeUndefined();
    const issued = challenges.issue([]);
    now -= 9_999;
    expect(challenges.check([], issued)).toBe(now + 9_999);
    now -= 1;
    expect(challenges.check([], issued)).toBeUndefined();
  });
});

describe('a relying party', () => {
  it.each([
    ['id.example.com', 'https://id.example.com', true],
    ['example.com', 'https://id.example.com', true],
    ['localhost', 'http://localhost:8080', true],
    ['com', 'https://id.example.com', false],
    ['ample.com', 'https://id.example.com', false],
    ['other.example.com', 'https://id.example.com', false],
    ['127.0.0.1', 'http://127.0.0.1:8080', false],
    ['[::1]', 'http://[::1]:8080', false],
    ['id.example.com', 'http://id.example.com', false],
  ])('may have the ID %s for the base URL %s: %s', (id, at, isGood) => {
    expect(relyingPartyFault(id, at) === undefined).toBe(isGood);
  });
});
