import { CompactSign, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { factsOfMdoc } from '../../server/identity-wallet/facts.ts';
import { decodeCbor } from '../../server/identity-wallet/formats/cbor.ts';
import {
  adult,
  createCheck,
  expectation,
  handover,
  issuer,
  now,
  personSettings,
  personToken,
  personTokenWithProof,
  refusalOf,
} from './attested.ts';
import { presentMdoc } from './library-holder.ts';

const check = createCheck();
const ages = ['age_equal_or_over', '18'];
const number = ['personal_administrative_number'];
const asked = expectation(personSettings, ['age_18_plus']);

describe('an identity credential (PID) from the library @sd-jwt', () => {
  it('yields the claims, and identifies the person by the personal number', async () => {
    const claims = ['age_18_plus', 'country', 'identity_verified', 'assurance_level'] as const;
    const token = await personToken({ paths: [ages, ['nationalities', null], number] });
    expect(await check(token, expectation(personSettings, claims))).toEqual({
      claims: { age_18_plus: true, country: 'DE', identity_verified: true, assurance_level: 3 },
      person: { issuer: 'EU', identifier: 'TEST-0001' },
    });
  });

  it('yields an age claim from the birth date if no age element is presented', async () => {
    const order = { holder: 'minor', now } as const;
    const token = await personToken({ paths: [['birthdate']], order });
    expect(await check(token, asked)).toEqual({ claims: { age_18_plus: false }, person: undefined });
  });

  it('proves identity_verified without any presented claim', async () => {
    const settings = { ...personSettings, stableIdentifier: false };
    const token = await personToken({ paths: [] });
    expect((await check(token, expectation(settings, ['identity_verified']))).claims).toEqual({
      identity_verified: true,
    });
  });
});

describe('an identity credential (PID) as an mdoc', () => {
  it('yields the claims, and identifies the person by the personal number', async () => {
    const docType = 'eu.europa.ec.eudi.pid.1';
    const elements = ['birth_date', 'nationality', 'personal_administrative_number'];
    const key = issuer.holderKey;
    const issuerSigned = issuer.personMdoc(adult, docType);
    const presentation = await presentMdoc({ issuerSigned, key, docType, elements, handover });
    const claims = ['age_21_plus', 'country'] as const;
    const proven = await check({ pid_mdoc: [presentation] }, expectation(personSettings, claims));
    expect(proven.claims).toEqual({ age_21_plus: true, country: 'DE' });
    expect(proven.person?.identifier).toBe('TEST-0001');
  });
});

it('a PID is accepted if its holder proof begins now and has not expired', async () => {
  const proven = await check(
    await personTokenWithProof({ nbf: now / 1000, exp: now / 1000 + 1 }, [ages]),
    asked,
  );
  expect(proven.claims).toEqual({ age_18_plus: true });
});

describe('the check of an identity credential (PID)', () => {
  it.each([
    ['an expired PID', 'attestation expired', 'expired'],
    ['a PID that is not valid yet', 'attestation not yet valid', 'not-yet-valid'],
    ['a PID of an unknown issuer', 'unknown issuer', 'unknown-issuer'],
    ['a revoked PID', 'attestation revoked', 'revoked'],
  ] as const)('refuses %s as "%s"', async (_what, refusal, flaw) => {
    const token = await personToken({ paths: [ages], order: { ...adult, flaw } });
    expect(await refusalOf(check(token, asked))).toBe(refusal);
  });

  it('refuses a PID whose holder proof has another nonce, audience or time', async () => {
    const made = (change: Partial<typeof handover> | { nonce: string } | { clientId: string }) =>
      personToken({ paths: [ages], made: { ...handover, ...change } });
    expect(await refusalOf(check(await made({ nonce: 'another' }), asked))).toBe('wrong nonce');
    expect(await refusalOf(check(await made({ clientId: 'x509_hash:other' }), asked))).toBe('wrong audience');
    for (const at of [now - 660_000, now + 120_000]) {
      const token = await personToken({ paths: [ages], at });
      expect(await refusalOf(check(token, asked))).toBe('holder proof wrong');
    }
  });

  it.each([
    ['expired 61 s ago', { exp: -61 }],
    ['expired 60 s ago', { exp: -60 }],
    ['is valid from 61 s later', { nbf: 61 }],
  ])('refuses a PID whose holder proof %s', async (_what, ends) => {
    const said = Object.fromEntries(Object.entries(ends).map(([name, later]) => [name, now / 1000 + later]));
    expect(await refusalOf(check(await personTokenWithProof(said, [ages]), asked))).toBe(
      'holder proof wrong',
    );
    expect(await refusalOf(check(await personTokenWithProof({ exp: 'soon' }, [ages]), asked))).toBe(
      'malformed',
    );
  });

  it.each([
    { b64: true, crit: ['b64'] },
    { b64: false, crit: ['b64'] },
    { crit: ['exp'], exp: 1 },
  ])('refuses a PID whose holder proof has the header %j', async (header) => {
    const token = await personTokenWithProof({}, [ages], header);
    expect(await refusalOf(check(token, asked))).toBe('holder proof wrong');
  });

  it('refuses a PID with more or fewer claims than requested, or of another type', async () => {
    const more = await personToken({ paths: [ages, ['family_name']] });
    expect(await refusalOf(check(more, asked))).toBe('more than was asked for');
    const moreAges = await personToken({ paths: [ages, ['age_equal_or_over', '21']] });
    expect(await refusalOf(check(moreAges, asked))).toBe('more than was asked for');
    const both = await personToken({ paths: [ages, ['birthdate']] });
    expect(await refusalOf(check(both, asked))).toBe('more than was asked for');
    const less = await personToken({ paths: [['age_equal_or_over', '21']] });
    expect(await refusalOf(check(less, asked))).toBe('less than was asked for');
    const other = await personToken({ paths: [ages], type: 'urn:example:pid' });
    expect(await refusalOf(check(other, asked))).toBe('wrong type');
  });

  it('refuses a PID without key binding, with a forged disclosure, or with a repeated disclosure', async () => {
    const [whole] = (await personToken({ paths: [ages] })).pid_sd_jwt;
    const parts = whole?.split('~') ?? [];
    const [issued = '', first = ''] = parts;
    const binding = parts.at(-1) ?? '';
    const invented = Buffer.from(JSON.stringify(['salt', 'birthdate', '1980-01-01'])).toString('base64url');
    const refused = (presentation: string) => refusalOf(check({ pid_sd_jwt: [presentation] }, asked));
    expect(await refused([...parts.slice(0, -1), ''].join('~'))).toBe('holder proof wrong');
    expect(await refused(issued)).toBe('holder proof wrong');
    expect(await refused([...parts.slice(0, -1), invented, binding].join('~'))).toBe('malformed');
    expect(await refused([...parts.slice(0, -1), first, binding].join('~'))).toBe('malformed');
    expect(await refused([issued, binding].join('~'))).toBe('holder proof wrong');
  });

  it('refuses a PID that is unsigned, signed by its holder, or signed with a MAC', async () => {
    const [whole = ''] = (await personToken({ paths: [ages] })).pid_sd_jwt;
    const [issued = '', ...rest] = whole.split('~');
    const [header = '', payload = ''] = issued.split('.');
    const refused = (jwt: string) => refusalOf(check({ pid_sd_jwt: [[jwt, ...rest].join('~')] }, asked));
    const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    const unsigned = new UnsecuredJWT(read(payload) as Record<string, unknown>).encode();
    expect(await refused(unsigned)).toBe('malformed');
    const none = Buffer.from(JSON.stringify({ ...read(header), alg: 'none' })).toString('base64url');
    expect(await refused(`${none}.${payload}.`)).toBe('issuer signature wrong');
    const own = await new CompactSign(Buffer.from(payload, 'base64url'))
      .setProtectedHeader({ ...read(header), alg: 'ES256' } as never)
      .sign(issuer.holderKey);
    expect(await refused(own)).toBe('issuer signature wrong');
    const spki = Buffer.from('public key');
    const mac = await new CompactSign(Buffer.from(payload, 'base64url'))
      .setProtectedHeader({ ...read(header), alg: 'HS256' } as never)
      .sign(spki);
    expect(await refused(mac)).toBe('issuer signature wrong');
  });
});

describe('an identity credential (PID) with one character changed', () => {
  it('is never accepted, for a change at each seventh character', async () => {
    const [whole = ''] = (await personToken({ paths: [ages] })).pid_sd_jwt;
    for (let at = 0; at < whole.length; at += 7) {
      const old = whole.charAt(at);
      // The last base64url character can have spare bits, which do not change the value.
      if (/^[.~]?$/.test(whole.charAt(at + 1))) continue;
      const changed = whole.slice(0, at) + (old === 'A' ? 'B' : 'A') + whole.slice(at + 1);
      expect(await refusalOf(check({ pid_sd_jwt: [changed] }, asked)), `at ${at}`).not.toBe('accepted');
    }
  });
});

describe('a text of an mdoc', () => {
  const read = (...bytes: number[]) =>
    factsOfMdoc(new Map([['document_number', decodeCbor(Uint8Array.of(0x60 + bytes.length, ...bytes))]]));

  it('is read if it is UTF-8', () => {
    expect(read(0x41, 0xc3, 0xa9).identifier).toBe('Aé');
  });

  // Two document numbers that differ only in such bytes would be one person.
  it.each([
    ['a byte that UTF-8 never has', [0x41, 0xff]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['half a character', [0x41, 0xc3]],
    ['NUL', [0x41, 0]],
  ])('is refused as "malformed" if it has %s', (_what, bytes) => {
    expect(() => read(...bytes)).toThrow('malformed');
  });
});
