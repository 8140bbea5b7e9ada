import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildCertificate, toPem } from '../../../server/identity-wallet/test-wallet/certificate-builder.ts';
import { accessCertificate, createTestIssuer } from '../../../server/identity-wallet/test-wallet/issuer.ts';
import { checkEveryMs, createTrust } from '../../../server/identity-wallet/trust/trust.ts';
import { readConfig } from '../../../server/platform/config/config.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const now = Date.now();
const issuerOf = () => createTestIssuer({ key: randomBytes(32), statusUri: 'https://x.test/s', now });
const anchor = issuerOf().anchorPem;
const directory = temporaryFolder('wallets');

const age = { name: 'age-app', label: 'Age app', profile: 'eu-age-verification', trustAnchors: anchor };
const { certificates, key } = accessCertificate(randomBytes(32), now);
const person = {
  ...age,
  name: 'eudi',
  profile: 'eudi-pid',
  access: { certificates, key: { env: 'EUDI_KEY' } },
};

const read = (list: object[], more: Record<string, string> = {}) =>
  readConfig({ SVC_IDENTITY_WALLET_SOURCES: JSON.stringify(list), ...more }).identityWalletSources;

describe('SVC_IDENTITY_WALLET_SOURCES', () => {
  it('is a list of identity wallets, each of which gets the defaults of its profile', () => {
    expect(readConfig({}).identityWalletSources).toEqual([]);
    const [first, second] = read([age, person], { EUDI_KEY: key });
    expect(first).toMatchObject({ docType: 'eu.europa.ec.av.1', scheme: 'av', modes: ['test', 'live'] });
    expect(second).toMatchObject({
      scheme: 'openid4vp',
      access: { certificates, key: key.trim(), clientId: 'x509_hash' },
    });
  });

  it('can be set under its old name SVC_WALLET_SOURCES, but not under both names', () => {
    const list = JSON.stringify([age]);
    expect(readConfig({ SVC_WALLET_SOURCES: list }).identityWalletSources).toEqual(read([age]));
    expect(() => readConfig({ SVC_WALLET_SOURCES: '[{}]' })).toThrow('SVC_WALLET_SOURCES: ');
    const both = { SVC_WALLET_SOURCES: list, SVC_IDENTITY_WALLET_SOURCES: list };
    expect(() => readConfig(both)).toThrow('another name of SVC_IDENTITY_WALLET_SOURCES; set only one');
  });

  it.each<[string, object[], string]>([
    ['two sources have the same name', [age, age], 'age-app is there twice'],
    ['a source has the name of a built-in source', [{ ...age, name: 'test-wallet-age' }], 'always there'],
    [
      'the file of trust anchors does not exist',
      [{ ...age, trustAnchors: '/nowhere.pem' }],
      'trustAnchors cannot be read (ENOENT)',
    ],
    [
      'the trust anchors contain no certificate',
      [{ ...age, trustAnchors: '-----BEGIN nothing' }],
      'no PEM certificate',
    ],
    [
      'a source of the profile eudi-pid has no access certificate',
      [{ ...person, access: undefined }],
      'is required for eudi-pid',
    ],
    ['the variable for the access key is not set', [person], 'the variable of access.key is not set'],
    ['a source has the URL scheme javascript', [{ ...age, scheme: 'javascript' }], 'scheme'],
    [
      'a source of proofs of age asks for a stable identifier',
      [{ ...age, stableIdentifier: true }],
      'is not part of',
    ],
  ])('is refused if %s', (_what, list, fault) => {
    expect(() => read(list)).toThrow(fault);
  });

  it('is refused if the access key does not match the access certificate, with a fault that hides the key', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = other.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const attempt = () => read([person], { EUDI_KEY: pem });
    expect(attempt).toThrow('does not belong to the certificate');
    expect(attempt).not.toThrow('PRIVATE KEY');
  });

  it('is refused if the access certificate is self-signed', () => {
    const own = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const subject = { country: 'EU', name: 'relying party' };
    const self = buildCertificate({ subject, key: own, notBefore: now - 1000, notAfter: now + 1000 });
    const access = { certificates: toPem(self), key: { env: 'EUDI_KEY' } };
    const pem = own.export({ format: 'pem', type: 'pkcs8' }).toString();
    expect(() => read([{ ...person, access }], { EUDI_KEY: pem })).toThrow(
      'eudi: access.certificates: the first certificate is self-signed',
    );
  });

  it('accepts a VICAL file (a list of issuers) with its providers as trust anchors, and refuses an unreadable one', () => {
    const vical = join(directory, 'list.vical');
    writeFileSync(vical, 'read later');
    const trustAnchors = { vical, providers: anchor };
    expect(read([{ ...age, trustAnchors }])[0]).toMatchObject({ trustAnchors });
    const refused = (changes: object) => () =>
      read([{ ...age, trustAnchors: { ...trustAnchors, ...changes } }]);
    expect(refused({ vical: join(directory, 'none') })).toThrow('trustAnchors.vical cannot be read (ENOENT)');
    expect(refused({ providers: '-----BEGIN nothing' })).toThrow(
      'trustAnchors.providers: it contains no PEM',
    );
    expect(refused({ other: 1 })).toThrow();
  });

  it('accepts the profiles mdl and photo-id with an access certificate, and refuses mdl without one', () => {
    const licence = { ...person, name: 'licence', profile: 'mdl', stableIdentifier: true };
    const photo = { ...person, name: 'photo', profile: 'photo-id' };
    const given = read([licence, photo], { EUDI_KEY: key });
    expect(given.map(({ docType, formats }) => [docType, ...formats])).toEqual([
      ['org.iso.18013.5.1.mDL', 'mso_mdoc'],
      ['org.iso.23220.photoid.1', 'mso_mdoc'],
    ]);
    expect(() => read([{ ...licence, access: undefined }])).toThrow('is required for mdl');
  });

  it('is refused if a source has the same name as an OpenID provider', () => {
    const oidc = [{ name: 'age-app', label: 'x', issuer: 'https://id.test', clientId: 'x' }];
    expect(() => read([age], { SVC_OIDC_SOURCES: JSON.stringify(oidc) })).toThrow('name of another source');
  });
});

describe('a file of trust anchors for identity wallets', () => {
  it('is read again when it changes; while it is unusable, the last valid anchors stay in use', () => {
    const file = join(directory, 'anchors.pem');
    const lines: object[] = [];
    const logger = { info: (line: object) => lines.push(line), error: (line: object) => lines.push(line) };
    let uptime = 0;
    const write = (text: string, at: number) => {
      writeFileSync(file, text);
      utimesSync(file, at, at);
      uptime += 5_000;
    };
    write(anchor, 1_000);
    const trust = createTrust({
      given: file,
      docType: 'eu.europa.ec.av.1',
      clock: { now: () => now },
      source: 'age-app',
      logger: logger as never,
      uptime: () => uptime,
    });
    const first = trust.anchors()[0]?.x509.fingerprint256;
    write(issuerOf().anchorPem, 2_000);
    const second = trust.anchors()[0]?.x509.fingerprint256;
    expect(second).not.toBe(first);
    expect(trust.fault(now)).toBeUndefined();
    write('not PEM', 3_000);
    expect(trust.anchors()[0]?.x509.fingerprint256).toBe(second);
    expect(trust.fault(now)).toBe('it contains no PEM certificate');
    write(anchor, 4_000);
    expect(trust.anchors()[0]?.x509.fingerprint256).toBe(first);
    expect(trust.fault(now)).toBeUndefined();
    expect(lines).toHaveLength(3);
    expect(trust.fault(now + 900 * 86_400_000)).toBe('no trust anchor is a valid certificate authority');
  });

  it('is reported as missing after it was removed, until it is back', () => {
    const file = join(directory, 'away.pem');
    writeFileSync(file, anchor);
    let uptime = 0;
    const trust = createTrust({
      given: file,
      docType: 'eu.europa.ec.av.1',
      clock: { now: () => now },
      source: 'age-app',
      logger: { error: () => {}, info: () => {} },
      uptime: () => uptime,
    });
    renameSync(file, `${file}.away`);
    uptime += checkEveryMs;
    expect(trust.fault(now)).toBe('ENOENT');
    renameSync(`${file}.away`, file);
    uptime += checkEveryMs;
    expect(trust.fault(now)).toBeUndefined();
  });
});
