import { createHash, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { factsOfSdJwt } from '../../server/identity-wallet/facts.ts';
import { applyDisclosures } from '../../server/identity-wallet/formats/disclosures.ts';
import { verifySdJwt, verifySigned } from '../../server/identity-wallet/formats/sd-jwt.ts';
import { anchors, refusalOf } from './attested.ts';
import { disclosures, issuerKey, person } from './published/rfc-9901.ts';

const key = createPublicKey({ key: issuerKey, format: 'jwk' });
const { audience, nonce, type, madeAt } = person;
const expected = { types: [type], audience, nonce, now: (madeAt + 1) * 1000 };
const presentation = [person.issued, ...person.disclosures, person.keyBinding].join('~');

describe('the identity credential (PID) of RFC 9901, appendix A.3', () => {
  it('yields the claims that the specification names', async () => {
    const { claims, disclosed, statuses } = await verifySigned(presentation, key, expected);
    const { cnf, ...rest } = claims;
    expect(rest).toEqual({
      iss: 'https://pid-issuer.bund.de.example',
      iat: 1683000000,
      exp: 1883000000,
      vct: type,
      age_equal_or_over: { '18': true },
      nationalities: ['DE'],
    });
    expect(cnf).toHaveProperty('jwk.x', 'TCAER19Zvu3OHF4j4W4vfSVoHIP1ILilDls7vCeGemc');
    expect(disclosed).toContainEqual(['age_equal_or_over', '18']);
    expect(statuses).toEqual([]);
    expect(factsOfSdJwt(claims)).toMatchObject({ ages: new Map([[18, true]]), countries: ['DE'] });
  });

  it('is refused as malformed, because it contains no certificate of its issuer', async () => {
    const work = verifySdJwt(presentation, { ...expected, anchors });
    await expect(work).rejects.toThrow('malformed: no x5c header');
  });

  it.each([
    ['wrong nonce', 'another nonce is expected', { nonce: '1234567891' }],
    ['wrong audience', 'another audience is expected', { audience: 'https://verifier.example.com' }],
    ['wrong type', 'another type is expected', { types: ['urn:eudi:pid:1'] }],
    ['holder proof wrong', 'its holder proof is an hour old', { now: (madeAt + 3600) * 1000 }],
    ['holder proof wrong', 'its holder proof is an hour in the future', { now: (madeAt - 3600) * 1000 }],
    ['attestation expired', 'it expired 61 s ago', { now: 1883000061 * 1000 }],
    ['attestation not yet valid', 'it was not issued yet', { now: 1682990000 * 1000 }],
  ])('is refused as "%s" if %s', async (refusal, _what, change) => {
    expect(await refusalOf(verifySigned(presentation, key, { ...expected, ...change }))).toBe(refusal);
  });

  it('is refused ("holder proof wrong") if a disclosure that its holder signed is left out', async () => {
    const fewer = [person.issued, ...person.disclosures.slice(0, 2), person.keyBinding].join('~');
    expect(await refusalOf(verifySigned(fewer, key, expected))).toBe('holder proof wrong');
  });

  it('is refused ("issuer signature wrong") if its issuer\'s key is taken to be the holder\'s key', async () => {
    const { claims } = await verifySigned(presentation, key, expected);
    const { jwk } = claims['cnf'] as { jwk: Record<string, string> };
    const holder = createPublicKey({ key: jwk, format: 'jwk' });
    expect(await refusalOf(verifySigned(presentation, holder, expected))).toBe('issuer signature wrong');
  });
});

describe('the disclosures of RFC 9901, section 4.2', () => {
  it('have the digests of the specification, and yield the claims of an object and a list', () => {
    const [ofObject, ofArray] = disclosures;
    for (const { text, digest } of disclosures) {
      expect(createHash('sha256').update(text).digest('base64url')).toBe(digest);
    }
    const payload = { _sd: [ofObject.digest], nationalities: ['DE', { '...': ofArray.digest }, 'US'] };
    const { claims, disclosed } = applyDisclosures(payload, [ofObject.text, ofArray.text]);
    expect(claims).toEqual({ family_name: 'Möbius', nationalities: ['DE', 'FR', 'US'] });
    expect(disclosed).toEqual([['nationalities', 1], ['family_name']]);
  });
});
