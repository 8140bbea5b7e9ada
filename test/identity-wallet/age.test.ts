import { describe, expect, it } from 'vitest';
import { issueMdoc } from '../../server/identity-wallet/test-wallet/attestations.ts';
import {
  adult,
  ageSettings,
  ageToken,
  anchors,
  createCheck,
  expectation,
  handover,
  issuer,
  now,
  refusalOf,
} from './attested.ts';
import { presentMdoc } from './library-holder.ts';

const check = createCheck();
const asked = expectation(ageSettings, ['age_18_plus']);

describe('a proof of age from the library @owf/mdoc', () => {
  it('yields the requested claim, and no identity of a person', async () => {
    const proven = await check(await ageToken(), asked);
    expect(proven).toEqual({ claims: { age_18_plus: true }, person: undefined });
  });

  it('proves age 16 if it proves age 21, and disproves age 21 if it disproves age 18', async () => {
    const claims = ['age_16_plus', 'age_21_plus'] as const;
    const all = ['age_over_16', 'age_over_21'];
    expect(await check(await ageToken({ elements: all }), expectation(ageSettings, claims))).toMatchObject({
      claims: { age_16_plus: true, age_21_plus: true },
    });
    const minor = { holder: 'minor', now } as const;
    const token = await ageToken({ elements: ['age_over_18'], order: minor });
    expect((await check(token, expectation(ageSettings, ['age_21_plus']))).claims).toEqual({
      age_21_plus: false,
    });
  });

  it('leaves an age claim null if the proof does not attest it', async () => {
    const token = await ageToken({ elements: ['age_over_18'] });
    expect((await check(token, expectation(ageSettings, ['age_21_plus']))).claims).toEqual({
      age_21_plus: null,
    });
  });
});

describe('the check of a presented proof of age', () => {
  it.each([
    ['an expired proof', 'attestation expired', 'expired'],
    ['a proof that is not valid yet', 'attestation not yet valid', 'not-yet-valid'],
    ['a proof of an unknown issuer', 'unknown issuer', 'unknown-issuer'],
    ['a revoked proof', 'attestation revoked', 'revoked'],
  ] as const)('refuses %s as "%s"', async (_what, refusal, flaw) => {
    const token = await ageToken({ order: { ...adult, flaw } });
    expect(await refusalOf(check(token, asked))).toBe(refusal);
  });

  it.each([
    ['nonce', { nonce: 'another' }],
    ['client', { clientId: 'redirect_uri:https://other.test/answer' }],
    ['response URI', { responseUri: 'https://verify.test/other' }],
    ['encryption key', { thumbprint: new Uint8Array(32) }],
  ])(
    'refuses a proof whose device signature is for another %s than that of the request',
    async (_what, change) => {
      const token = await ageToken({ made: { ...handover, ...change } });
      expect(await refusalOf(check(token, asked))).toBe('holder proof wrong');
    },
  );

  it('refuses a presentation with more elements than requested', async () => {
    const token = await ageToken({ elements: ['age_over_18', 'age_over_65'] });
    expect(await refusalOf(check(token, asked))).toBe('more than was asked for');
  });

  it('refuses a presentation with fewer elements than requested', async () => {
    const token = await ageToken({ elements: ['age_over_16'] });
    expect(await refusalOf(check(token, asked))).toBe('less than was asked for');
  });

  it('refuses a proof of another document type', async () => {
    const person = issuer.personMdoc(adult, 'org.iso.18013.5.1.mDL');
    const presentation = await presentMdoc({
      issuerSigned: person,
      key: issuer.holderKey,
      docType: 'org.iso.18013.5.1.mDL',
      elements: ['age_over_18'],
      handover,
    });
    expect(await refusalOf(check({ proof_of_age: [presentation] }, asked))).toBe('wrong type');
  });

  it('refuses two presentations, none, and a presentation under a name that was not requested', async () => {
    const token = await ageToken();
    const [one] = token.proof_of_age;
    expect(await refusalOf(check({ proof_of_age: [one, one] }, asked))).toBe('malformed');
    expect(await refusalOf(check({ pid_mdoc: [one] }, asked))).toBe('more than was asked for');
    expect(await refusalOf(check({ ...token, other: [one] }, asked))).toBe('more than was asked for');
    expect(await refusalOf(check({}, asked))).toBe('less than was asked for');
  });

  it('refuses a proof whose signer may not sign documents', async () => {
    const strict = { ...ageSettings, documentSignerUsages: ['1.3.130.2.0.0.1.2'] };
    expect(await refusalOf(check(await ageToken(), expectation(strict, ['age_18_plus'])))).toBe(
      'issuer certificate unusable',
    );
  });

  it('refuses a proof that attests an age above 18 but not above 16', async () => {
    const day = 86_400_000;
    const issuerSigned = issueMdoc({
      docType: 'eu.europa.ec.av.1',
      elements: { age_over_16: false, age_over_18: true },
      signer: issuer.signer,
      holderKey: issuer.holderKey,
      signed: now - day,
      validFrom: now - day,
      validUntil: now + day,
    });
    const presentation = await presentMdoc({
      issuerSigned,
      key: issuer.holderKey,
      docType: 'eu.europa.ec.av.1',
      elements: ['age_over_16', 'age_over_18'],
      handover,
    });
    const both = expectation(ageSettings, ['age_16_plus', 'age_18_plus']);
    expect(await refusalOf(check({ proof_of_age: [presentation] }, both))).toBe('malformed');
  });

  it('refuses every proof if the source has no trust anchor', async () => {
    expect(await refusalOf(check(await ageToken(), { ...asked, anchors: [] }))).toBe('unknown issuer');
    expect(anchors).toHaveLength(1);
  });
});

describe('a proof of age with one byte changed', () => {
  it('is never accepted, for a change at each third byte', async () => {
    const [text = ''] = (await ageToken()).proof_of_age;
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at += 3) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x41;
      const token = { proof_of_age: [changed.toString('base64url')] };
      expect(await refusalOf(check(token, asked)), `byte ${at}`).not.toBe('accepted');
    }
  });
});
