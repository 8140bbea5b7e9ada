import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AuthorityKeyIdentifier,
  Certificate as CertificateStructure,
  id_ce_authorityKeyIdentifier,
} from '@peculiar/asn1-x509';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIdentityWalletSources } from '../../contracts/identity-wallet-sources.ts';
import { accessOf } from '../../server/identity-wallet/access.ts';
import { createIdentityWallets } from '../../server/identity-wallet/port.ts';
import { deriveKeyPair } from '../../server/identity-wallet/protocol/derived-key.ts';
import { queryFor, toDcql } from '../../server/identity-wallet/protocol/query.ts';
import { readLink } from '../../server/identity-wallet/test-wallet/asked.ts';
import { buildCertificate, toPem } from '../../server/identity-wallet/test-wallet/certificate-builder.ts';
import { accessCertificate } from '../../server/identity-wallet/test-wallet/issuer.ts';
import { parsePem } from '../../server/identity-wallet/trust/certificates.ts';
import { keyIdentifiersOf } from '../../server/identity-wallet/trust/trust.ts';
import type { TestServer } from '../harness/server.ts';
import { askIdentityWallet, postFields } from './asking.ts';
import {
  ageSettings,
  anchors,
  identityWalletSources,
  issuer,
  now,
  personSettings,
  startWithIdentityWallets,
} from './attested.ts';
import { ownAnchors } from './own-issuer.ts';
import { rotatingKeys } from './rotating-keys.ts';

let service: TestServer;
beforeAll(async () => {
  service = await startWithIdentityWallets();
});
afterAll(() => service.stop());

const names = [...identityWalletSources, ...testIdentityWalletSources].map(({ name }) => name);
const signed = names.filter((name) => name.includes('pid'));
const day = 86_400_000;
const validity = { notBefore: now - day, notAfter: now + day };

interface Query {
  credentials: {
    format: string;
    claims?: { path: unknown; intent_to_retain?: boolean }[];
    trusted_authorities?: { type: string; values: readonly string[] }[];
  }[];
}

/** Returns the two queries of a source: the query of the link and that for the Digital Credentials API. */
async function queriesOf(source: string): Promise<Query[]> {
  const { asked, request } = await askIdentityWallet(service, source);
  const payload = request.data.request ? decodeJwt(request.data.request) : request.data;
  return [(await asked()).dcql_query, payload['dcql_query']] as Query[];
}

/** Returns the format and the `intent_to_retain` of each claim in a query. */
const retained = ({ credentials }: Query) =>
  credentials.flatMap(({ format, claims = [] }) => claims.map((each) => [format, each.intent_to_retain]));

describe('the query to an identity wallet', () => {
  it.each([[['age_18_plus']], [['age_21_plus', 'age_16_plus']], [['country', 'identity_verified']]] as const)(
    'marks every mdoc element with intent_to_retain, and no SD-JWT claim, if it asks for %s',
    (claims) => {
      for (const settings of [ageSettings, personSettings]) {
        const retentions = retained(toDcql(queryFor(settings, claims), []) as Query);
        for (const [format, retains] of retentions)
          expect(retains).toBe(format === 'mso_mdoc' ? true : undefined);
        if (settings === personSettings) expect(new Set(retentions.map(([format]) => format)).size).toBe(2);
      }
    },
  );

  it.each(names)(
    'marks every mdoc element with intent_to_retain in link and API request of the source %s',
    async (source) => {
      for (const query of await queriesOf(source)) {
        const retentions = retained(query);
        expect(retentions.length).toBeGreaterThan(0);
        for (const [format, retains] of retentions)
          expect(retains).toBe(format === 'mso_mdoc' ? true : undefined);
      }
    },
  );
});

/** Returns the key identifier of the authority that a signer's certificate names. */
function authorityKeyOf(der: Uint8Array): string {
  const { extensions = [] } = AsnConvert.parse(der, CertificateStructure).tbsCertificate;
  const value = [...extensions].find(({ extnID }) => extnID === id_ce_authorityKeyIdentifier)?.extnValue;
  const { keyIdentifier } = AsnConvert.parse(value?.buffer ?? new ArrayBuffer(0), AuthorityKeyIdentifier);
  return Buffer.from(keyIdentifier?.buffer ?? new ArrayBuffer(0)).toString('base64url');
}

describe('the trusted authorities of a query to identity wallets', () => {
  const [certificate = new Uint8Array()] = issuer.signer.certificates;
  const own = authorityKeyOf(certificate);
  const authorities = (queries: Query[]) =>
    queries.flatMap(({ credentials }) => credentials.map((each) => each.trusted_authorities));

  it('are the key identifiers of the trusted issuer and of the test issuer', async () => {
    for (const { name } of identityWalletSources) {
      for (const each of authorities(await queriesOf(name))) {
        expect(each).toEqual([{ type: 'aki', values: [own, expect.any(String)] }]);
      }
    }
  });

  it('do not contain the test issuer in live mode', async () => {
    const { verifiers } = createIdentityWallets({
      settings: [ageSettings],
      baseUrl: 'https://verify.test',
      key: new Uint8Array(32),
      requestKeys: rotatingKeys(),
      clock: { now: () => now },
      logger: pino({ level: 'silent' }),
      fetchStatusList: () => Promise.reject(new Error('no way out')),
    });
    const sessionId = `ses_${'0'.repeat(22)}`;
    const handle = {
      source: ageSettings.name,
      sessionId,
      device: 'computer',
      binding: 'b',
      number: 0,
    } as const;
    const asked = async (mode: 'live' | 'test') => {
      const verifier = verifiers.find(({ name }) => name === ageSettings.name);
      const made = await verifier?.request(handle, { mode, claims: ['age_18_plus'] });
      const requests = (made?.digital.requests ?? []) as { data: { dcql_query?: Query } }[];
      return authorities(requests.flatMap(({ data: { dcql_query: query } }) => (query ? [query] : [])));
    };
    expect(await asked('live')).toEqual([[{ type: 'aki', values: [own] }]]);
    expect(await asked('test')).toEqual([[{ type: 'aki', values: [own, expect.any(String)] }]]);
  });

  it('contain each key identifier once, and are omitted if one issuer has no key identifier', () => {
    expect(keyIdentifiersOf([...anchors, ...anchors])).toEqual([own]);
    const [first] = ownAnchors;
    if (!first) throw new Error('no anchor');
    expect(keyIdentifiersOf([...anchors, first])).toHaveLength(2);
    expect(keyIdentifiersOf([...anchors, { ...first, keyIdentifier: undefined }])).toEqual([]);
  });
});

describe('the certificates of a signed wallet request', () => {
  it.each(signed)('contain no self-signed certificate in a request of the source %s', async (source) => {
    const { request, link } = await askIdentityWallet(service, source);
    const requestUri = new URL(link).searchParams.get('request_uri') ?? '';
    for (const jwt of [request.data.request ?? '', await (await fetch(requestUri)).text()]) {
      const { x5c = [] } = decodeProtectedHeader(jwt);
      const chain = x5c.map((each) => new X509Certificate(Buffer.from(each, 'base64')));
      expect(chain).toHaveLength(1);
      expect(chain.map((each) => each.verify(each.publicKey))).toEqual([false]);
    }
  });

  it('are those of the relying party and the intermediate authority, without the root', () => {
    const seed = new Uint8Array(32);
    const [rootKey, middleKey, key] = ['root', 'middle', 'own'].map((name) => deriveKeyPair(seed, [name]));
    if (!rootKey || !middleKey || !key) throw new Error('no keys');
    const root = { subject: { name: 'root' }, key: rootKey };
    const middle = { subject: { name: 'middle' }, key: middleKey };
    const chain = [
      buildCertificate({ subject: { name: 'own' }, key, issuer: middle, ...validity }),
      buildCertificate({ ...middle, issuer: root, ...validity, isAuthority: true }),
      buildCertificate({ ...root, ...validity, isAuthority: true }),
    ];
    const given = {
      certificates: chain.map(toPem).join(''),
      key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
      clientId: 'x509_hash' as const,
    };
    const { certificates } = accessOf(given, 'https://verify.test');
    expect(certificates.map(({ x509 }) => x509.subject)).toEqual(['CN=own', 'CN=middle']);
  });

  it('are issued by a separate authority for the test identity wallet', () => {
    const [own, ...more] = parsePem(accessCertificate(new Uint8Array(32), now).certificates);
    expect(more).toEqual([]);
    expect(own?.x509.issuer).toContain('SVC test access authority');
    expect(own?.x509.verify(own.x509.publicKey)).toBe(false);
  });

  it('cause an error in the test identity wallet if the only one of them is self-signed', async () => {
    const key = deriveKeyPair(new Uint8Array(32), ['self']);
    const self = buildCertificate({ subject: { name: 'self' }, key, ...validity });
    const header = { alg: 'ES256', typ: 'oauth-authz-req+jwt', x5c: [self.toString('base64')] };
    const jwt = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.x`;
    const read = readLink('openid4vp://?client_id=x509_hash:x&request_uri=x', async () => jwt);
    await expect(read).rejects.toThrow('no certificate of an authority');
  });
});

describe.each(signed)('the request URI of %s (OpenID4VP 1.0, 5.10)', (source) => {
  const requestUriOf = (link: string) => new URL(link).searchParams.get('request_uri') ?? '';

  it("is in the link with the method POST and the verifier's formats", async () => {
    const { link } = await askIdentityWallet(service, source);
    const { request_uri_method: method, client_metadata: metadata = '' } = Object.fromEntries(
      new URL(link).searchParams,
    );
    expect(method).toBe('post');
    expect(JSON.parse(metadata)).toHaveProperty('vp_formats_supported');
  });

  it("returns a signed request with the wallet's nonce, and ignores unknown fields", async () => {
    const { link } = await askIdentityWallet(service, source);
    const metadata =
      '{"vp_formats_supported":{"dc+sd-jwt":{}},"request_object_signing_alg_values_supported":["ES256"]}';
    for (const more of [{}, { wallet_metadata: metadata }, { wallet_metadata: 'no JSON', other: 'x' }]) {
      const answer = await postFields(requestUriOf(link), { wallet_nonce: 'nonce-of-the-wallet', ...more });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/oauth-authz-req+jwt');
      expect(decodeJwt(await answer.text())).toMatchObject({ wallet_nonce: 'nonce-of-the-wallet' });
    }
  });

  it('returns a request without a wallet nonce if none was sent, for GET and for POST', async () => {
    const uri = requestUriOf((await askIdentityWallet(service, source)).link);
    const answers = [await fetch(uri), await fetch(uri, { method: 'POST' }), await postFields(uri, {})];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(decodeJwt(await answer.text())).not.toHaveProperty('wallet_nonce');
    }
  });

  it('answers 400 to a wallet nonce that is too long or repeated', async () => {
    const uri = requestUriOf((await askIdentityWallet(service, source)).link);
    expect((await postFields(uri, { wallet_nonce: 'x'.repeat(257) })).status).toBe(400);
    const body = new URLSearchParams([
      ['wallet_nonce', 'a'],
      ['wallet_nonce', 'b'],
    ]);
    expect((await fetch(uri, { method: 'POST', body })).status).toBe(400);
  });
});
