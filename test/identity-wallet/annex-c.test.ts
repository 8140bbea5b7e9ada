import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { encode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClaimName, claimRegistry } from '../../contracts/claims.ts';
import { buildCertificate, toPem } from '../../server/identity-wallet/test-wallet/certificate-builder.ts';
import { accessCertificate, createTestIssuer } from '../../server/identity-wallet/test-wallet/issuer.ts';
import { createPartner, exchangeCode, sharedPartner, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { askIdentityWallet, digitalRequestsIn } from './asking.ts';
import { issuer } from './attested.ts';
import { askedIn, licence, presentByAnnexC, proofOfAge, readerOf, seal } from './iso-wallet.ts';

const access = accessCertificate(new Uint8Array(32), Date.now());
const { anchorPem: trustAnchors } = issuer;
const sources = [
  { name: 'age', label: 'Age app', profile: 'eu-age-verification', trustAnchors },
  { name: 'mdl', label: 'Licence', profile: 'mdl', trustAnchors, access },
  { name: 'mdl-person', label: 'Licence', profile: 'mdl', trustAnchors, access, stableIdentifier: true },
  { name: 'photo', label: 'Photo ID', profile: 'photo-id', trustAnchors, access },
  { name: 'pid', label: 'PID', profile: 'eudi-pid', trustAnchors, access },
  { name: 'pid-jwt', label: 'PID', profile: 'eudi-pid', trustAnchors, access, formats: ['dc+sd-jwt'] },
];

/** The keys of an authority, and of its signer, whose key is P-384. */
const [rootKey, wideKey] = ['P-256', 'P-384'].map(
  (namedCurve) => generateKeyPairSync('ec', { namedCurve }).privateKey,
) as [KeyObject, KeyObject];
const rootOf384 = { subject: { country: 'EU', name: 'Authority' }, key: rootKey };
const validity = { notBefore: Date.now() - 30 * 86_400_000, notAfter: Date.now() + 30 * 86_400_000 };
const wide = {
  key: wideKey,
  certificates: [
    buildCertificate({
      subject: { country: 'EU', name: 'Signer' },
      key: wideKey,
      issuer: rootOf384,
      purposes: ['1.0.18013.5.1.2'],
      ...validity,
    }),
  ],
};
const anchorOf384 = toPem(buildCertificate({ ...rootOf384, ...validity, isAuthority: true }));
sources.push(
  { name: 'age-384', label: 'Age app', profile: 'eu-age-verification', trustAnchors: anchorOf384 },
  { name: 'mdl-384', label: 'Licence', profile: 'mdl', trustAnchors: anchorOf384, access },
);

let service: TestServer;
beforeAll(async () => {
  service = await startTestServer({ env: { SVC_IDENTITY_WALLET_SOURCES: JSON.stringify(sources) } });
});
afterAll(() => service.stop());

const claims = Object.keys(claimRegistry) as ClaimName[];
const pidType = 'eu.europa.ec.eudi.pid.1';
const iso = { protocol: 'org-iso-mdoc' };
interface UserInfo {
  sub: string;
  claims: Record<string, unknown>;
}

async function ask(source: string, scope = 'age_18_plus country', given?: TestPartner) {
  const partner = given ?? (await sharedPartner(service, { client: { sources: [source], claims } }));
  const asked = await askIdentityWallet(service, source, { scope, partner });
  return {
    ...asked,
    data: asked.annexC(),
    answer: (data: object | string) => asked.post(data, iso),
    /** Exchanges the code, and returns userinfo. */
    async read(code = ''): Promise<UserInfo> {
      const exchanged = await exchangeCode(service, partner, { code, codeVerifier: asked.codeVerifier });
      const { access_token: token } = (await exchanged.json()) as { access_token: string };
      const headers = { authorization: `Bearer ${token}` };
      return (await (await fetch(`${service.baseUrl}/api/oauth/userinfo`, { headers })).json()) as UserInfo;
    },
  };
}
const origin = () => service.baseUrl;

describe('a wallet request by ISO/IEC TS 18013-7', () => {
  it.each([
    ['is on the page', 'age', 'org-iso-mdoc and openid4vp-v1-unsigned'],
    ['is on the page', 'mdl', 'org-iso-mdoc and openid4vp-v1-signed'],
    ['is on the page', 'photo', 'org-iso-mdoc and openid4vp-v1-signed'],
    ['is on the page', 'pid', 'openid4vp-v1-signed and org-iso-mdoc'],
    ['is not on the page', 'pid-jwt', 'openid4vp-v1-signed'],
  ])('%s of the source %s, which offers the protocols %s', async (_where, source, protocols) => {
    const { page } = await askIdentityWallet(service, source);
    expect(digitalRequestsIn(page.html).map(({ protocol }) => protocol)).toEqual(protocols.split(' and '));
  });

  it.each([
    ['age', 'age_18_plus', 'age_over_18', 'eu.europa.ec.av.1', 'eu.europa.ec.av.1'],
    // The alternative age_over_18 is left out, because this format cannot express alternatives.
    ['age', 'age_21_plus', 'age_over_21', 'eu.europa.ec.av.1', 'eu.europa.ec.av.1'],
    ['pid', 'age_18_plus', 'age_over_18', 'eu.europa.ec.eudi.pid.1', 'eu.europa.ec.eudi.pid.1'],
    ['mdl', 'age_21_plus', 'age_over_21', 'org.iso.18013.5.1.mDL', 'org.iso.18013.5.1'],
    ['mdl', 'identity_verified', 'issuing_country', 'org.iso.18013.5.1.mDL', 'org.iso.18013.5.1'],
    [
      ...['mdl-person', 'country', 'issuing_country, document_number, issuing_authority'],
      ...['org.iso.18013.5.1.mDL', 'org.iso.18013.5.1'],
    ],
    [
      ...['photo', 'age_18_plus country', 'age_over_18, issuing_country', 'org.iso.23220.photoid.1'],
      'org.iso.23220.1',
    ],
  ])(
    'asks, for the source %s and the scope %s, only for the elements %s',
    async (source, scope, elements, docType, namespace) => {
      const { data } = await ask(source, scope);
      const asked = askedIn(data.deviceRequest);
      expect(asked.docType).toBe(docType);
      expect(asked.elements.map((element) => element.join(' ')).sort()).toEqual(
        elements
          .split(', ')
          .map((name) => `${namespace} ${name}`)
          .sort(),
      );
    },
  );

  it('is signed with the access certificate, for its origin and its encryption key', async () => {
    const [mine, other] = [await ask('mdl'), await ask('mdl')];
    const { certificates, isRight } = readerOf(mine.data, origin());
    expect(certificates.map((each) => new X509Certificate(each).subject)).toEqual([
      expect.stringContaining('SVC test relying party'),
    ]);
    expect(isRight).toBe(true);
    expect(readerOf(mine.data, 'https://other.example').isRight).toBe(false);
    const { encryptionInfo } = other.data;
    expect(readerOf({ ...mine.data, encryptionInfo }, origin()).isRight).toBe(false);
  });

  it('is not signed if the profile does not authenticate relying parties', async () => {
    const { data } = await ask('age', 'age_18_plus');
    expect(() => readerOf(data, origin())).toThrow('names no reader');
  });

  it('has another encryption key in each session, and the same one when the page is reloaded', async () => {
    const [first, second] = [await ask('age'), await ask('age')];
    expect(first.data.encryptionInfo).not.toBe(second.data.encryptionInfo);
    const again = await first.pages.open(first.page.at);
    expect(again.html).toContain(first.data.encryptionInfo);
  });
});

describe('a wallet answer by ISO/IEC TS 18013-7', () => {
  it.each([
    ['age', 'age_18_plus', proofOfAge, { age_18_plus: true }],
    ['mdl', 'age_18_plus country', licence, { age_18_plus: true, country: 'EU' }],
    ['mdl', 'age_21_plus', licence, { age_21_plus: true }],
    ['pid', 'age_18_plus', { ...licence, docType: pidType, namespace: pidType }, { age_18_plus: true }],
    ['mdl', 'identity_verified assurance_level', licence, { identity_verified: true, assurance_level: 3 }],
    [
      'photo',
      'age_18_plus country',
      { ...licence, docType: 'org.iso.23220.photoid.1', namespace: 'org.iso.23220.1' },
      { age_18_plus: true, country: 'EU' },
    ],
  ])(
    'is accepted for the source %s and the scope %s if other libraries made it',
    async (source, scope, document, claims) => {
      const asked = await ask(source, scope);
      const end = await asked.answer(await presentByAnnexC(asked.data, { document, origin: origin() }));
      expect(end.returned).toHaveProperty('code');
      const shown = await asked.show();
      expect(shown).toMatchObject({ status: 'complete', failure: null });
      expect((await asked.read(end.returned?.['code'])).claims).toEqual(claims);
    },
  );

  it('is accepted from an issuer with a P-384 key, but not for a proof of age', async () => {
    const document = { ...proofOfAge, values: { age_over_18: true } };
    const [signed, other] = [await ask('mdl-384', 'age_18_plus'), await ask('age-384', 'age_18_plus')];
    const given = { origin: origin(), signer: wide };
    expect((await signed.answer(await presentByAnnexC(signed.data, given))).returned).toHaveProperty('code');
    await other.answer(await presentByAnnexC(other.data, { ...given, document }));
    expect((await other.show()).timeline.at(-1)?.note).toBe(
      'document_rejected: issuer signature wrong: the algorithm is not ES256',
    );
  });

  it('proves age_18_plus if it attests the age of 21 in place of 18', async () => {
    const { age_over_18: _absent, ...values } = licence.values;
    const asked = await ask('mdl', 'age_18_plus');
    const data = await presentByAnnexC(asked.data, {
      document: { ...licence, values },
      origin: origin(),
      shown: () => [[licence.namespace, 'age_over_21']],
    });
    const end = await asked.answer(data);
    expect((await asked.read(end.returned?.['code'])).claims).toEqual({ age_18_plus: true });
  });

  it('yields the same subject for the same document number and issuing authority, and another for another authority', async () => {
    const partner = await createPartner(service, { client: { sources: ['mdl-person'], claims } });
    async function subject(values: object): Promise<string> {
      const asked = await ask('mdl-person', 'age_18_plus', partner);
      const document = { ...licence, values: { ...licence.values, ...values } };
      const end = await asked.answer(await presentByAnnexC(asked.data, { document, origin: origin() }));
      return (await asked.read(end.returned?.['code'])).sub;
    }
    const [first, again, other] = [
      await subject({}),
      await subject({}),
      await subject({ issuing_authority: 'DMV' }),
    ];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('authenticates the user once if its form is sent three times simultaneously', async () => {
    const asked = await ask('mdl');
    const data = await presentByAnnexC(asked.data, { origin: origin() });
    const ends = await Promise.all([asked.answer(data), asked.answer(data), asked.answer(data)]);
    expect(ends.some(({ returned }) => returned?.['code'] !== undefined)).toBe(true);
    const { timeline } = await asked.show();
    expect(timeline.filter(({ event }) => event === 'authenticated')).toHaveLength(1);
  });
});

describe('a wallet answer by ISO/IEC TS 18013-7 gets 400, and the request stays open, if it', () => {
  async function staysOpen(make: (asked: Awaited<ReturnType<typeof ask>>) => Promise<object | string>) {
    const asked = await ask('mdl');
    expect((await asked.answer(await make(asked))).status).toBe(400);
    expect(await asked.show()).toMatchObject({ status: 'pending', failure: null });
    const end = await asked.answer(await presentByAnnexC(asked.data, { origin: origin() }));
    expect(end.returned).toHaveProperty('code');
  }

  it('was encrypted for another session', () =>
    staysOpen(async () => presentByAnnexC((await ask('mdl')).data, { origin: origin() })));
  it('was made for a page of another origin', () =>
    staysOpen(({ data }) => presentByAnnexC(data, { origin: 'https://other.example' })));
  it.each<[string, object | string]>([
    ['has no response', {}],
    ['has a number as its response', { response: 7 }],
    ['has a response that is not in base64url', { response: 'a+b=' }],
    ['is not JSON', 'response'],
    ['contains bytes that are not CBOR', { response: 'AP__' }],
    ['contains CBOR that never ends', { response: Buffer.from('9f6564636170', 'hex').toString('base64url') }],
    [
      'contains CBOR of another structure',
      { response: Buffer.from(encode(['other', {}])).toString('base64url') },
    ],
    [
      'contains no encryption key',
      { response: Buffer.from(encode(['dcapi', { cipherText: new Uint8Array(40) }])).toString('base64url') },
    ],
    [
      'contains a point that is not on the curve',
      {
        response: Buffer.from(
          encode(['dcapi', { enc: new Uint8Array(65).fill(4), cipherText: new Uint8Array(40) }]),
        ).toString('base64url'),
      },
    ],
  ])('%s', (_what, data) => staysOpen(async () => data));
  it('is larger than the limit', () => staysOpen(async () => ({ response: 'a'.repeat(70_000) })));
  it('was changed in transit', () =>
    staysOpen(async ({ data }) => {
      const { response } = await presentByAnnexC(data, { origin: origin() });
      return { response: `${response.slice(0, -8)}AAAAAAAA` };
    }));

  it('contains an mdoc, and its source accepts none', async () => {
    const asked = await askIdentityWallet(service, 'pid-jwt');
    const other = await ask('mdl');
    const data = await presentByAnnexC(other.data, { origin: origin() });
    expect((await asked.post(data, iso)).status).toBe(400);
    expect((await asked.show()).status).toBe('pending');
  });
});

describe('a wallet answer by ISO/IEC TS 18013-7 fails the session if it', () => {
  const foreign = createTestIssuer({
    key: new Uint8Array(32).fill(9),
    statusUri: 'https://issuer.test/s',
    now: Date.now(),
  });
  const more = (asked: readonly (readonly [string, string])[]) => [
    ...asked,
    [licence.namespace, 'family_name'] as const,
  ];
  const replaced = (from: string, to: string) => (response: Uint8Array) => {
    const changed = Buffer.from(response).toString('latin1').replace(from, to);
    return new Uint8Array(Buffer.from(changed, 'latin1'));
  };

  // forgery.test.ts, age.test.ts and nested.test.ts have the other faults of an mdoc.
  it.each<[string, Partial<Parameters<typeof presentByAnnexC>[1]>, string]>([
    ['is of an unknown issuer', { signer: foreign.signer }, 'unknown issuer'],
    ['shows more than was asked for', { shown: more }, 'more than was asked for'],
    [
      'has no device signature',
      { change: replaced('deviceSignature', 'deviceSignatura') },
      'holder proof wrong',
    ],
    ['is not CBOR', { change: () => new Uint8Array([0xff, 0x00]) }, 'malformed'],
  ])('%s', async (_what, given, refusal) => {
    const asked = await ask('mdl');
    const end = await asked.answer(await presentByAnnexC(asked.data, { origin: origin(), ...given }));
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    const { timeline, code } = await asked.show();
    expect(timeline.at(-1)?.note).toMatch(new RegExp(`^document_rejected: ${refusal}`));
    expect(code).toBeNull();
  });

  it('was signed for another session, and encrypted for this one', async () => {
    const [asked, other] = [await ask('mdl'), await ask('mdl')];
    let stolen = new Uint8Array();
    await presentByAnnexC(other.data, {
      origin: origin(),
      change: (response) => {
        stolen = new Uint8Array(response);
        return response;
      },
    });
    const end = await asked.answer(await seal(stolen, asked.data, origin()));
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect((await asked.show()).timeline.at(-1)?.note).toBe('document_rejected: holder proof wrong');
    expect((await other.show()).failure).toBeNull();
  });
});

describe('the form with a wallet answer by ISO/IEC TS 18013-7', () => {
  it('is refused with 401 without the cookie of its browser', async () => {
    const asked = await ask('mdl');
    const data = await presentByAnnexC(asked.data, { origin: origin() });
    expect((await asked.post(data, iso, openPages(service))).status).toBe(401);
    expect((await asked.show()).status).toBe('pending');
  });

  it('does not end the session if an earlier form answered the request with an error', async () => {
    const asked = await ask('mdl');
    await asked.post({ error: 'access_denied' });
    const late = await asked.answer(await presentByAnnexC(asked.data, { origin: origin() }));
    expect(late.returned).toBeUndefined();
    expect((await asked.show()).failure).toBeNull();
  });

  it('is refused with 400 if it names OpenID4VP as its protocol', async () => {
    const asked = await ask('age', 'age_18_plus');
    const data = await presentByAnnexC(asked.data, { document: proofOfAge, origin: origin() });
    expect((await asked.post(data)).status).toBe(400);
    expect((await asked.answer(data)).returned).toHaveProperty('code');
  });
});
