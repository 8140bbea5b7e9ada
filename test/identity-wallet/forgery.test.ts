import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { applyDisclosures } from '../../server/identity-wallet/formats/disclosures.ts';
import { PresentationRefused } from '../../server/identity-wallet/refused.ts';
import { ageSettings, createCheck, expectation, now, refusalOf } from './attested.ts';
import { adultItem, docType, handMade } from './hand-made.ts';
import { ownAnchors, ownSigner } from './own-issuer.ts';

const check = createCheck();
const day = 86_400_000;
const asked = expectation(ageSettings, ['age_18_plus']);
const checked = (presentation: string, expected = asked) => check({ proof_of_age: [presentation] }, expected);
const refused = (...parts: Parameters<typeof handMade>) => refusalOf(checked(handMade(...parts)));

const licence = 'org.iso.18013.5.1.mDL';

it('a proof of age that this test builds byte by byte is accepted if it has no fault', async () => {
  expect((await checked(handMade())).claims).toEqual({ age_18_plus: true });
});

describe('the document type of a proof of age', () => {
  it('is refused as "wrong type" if the issuer signed another type', async () => {
    expect(await refused({ mso: { docType: licence } })).toBe('wrong type');
  });

  it('is refused as "wrong type" if unsigned data name another type, even if the device signed it', async () => {
    expect(await refused({ outerDocType: licence })).toBe('wrong type');
    expect(await refused({ outerDocType: licence, signedDocType: licence })).toBe('wrong type');
  });

  it('is refused with "holder proof wrong" if the device signed another type', async () => {
    expect(await refused({ signedDocType: licence })).toBe('holder proof wrong');
  });

  it('is refused as "wrong type" if it is missing in the data that the issuer signed', async () => {
    expect(await refused({ mso: { docType: null } })).toBe('wrong type');
  });
});

describe('the signer of a proof of age', () => {
  const byOwn = expectation(ageSettings, ['age_18_plus'], { anchors: ownAnchors });
  const signer = ownSigner({ notBefore: now - 10 * day, notAfter: now + 10 * day });
  const outcome = (signed: number) => checked(handMade({ signer, signed }), byOwn);

  it('is accepted if it signed while its certificate was valid', async () => {
    for (const signed of [now - 10 * day, now, now + 10 * day]) {
      expect((await outcome(signed)).claims).toEqual({ age_18_plus: true });
    }
  });

  it.each([
    ['before its certificate was valid', now - 10 * day - 1000],
    ['after its certificate has ended', now + 10 * day + 1000],
  ])('is refused with "issuer certificate unusable" if it signed %s', async (_when, signed) => {
    await expect(outcome(signed)).rejects.toThrow(
      'issuer certificate unusable: not valid when the attestation was signed',
    );
  });

  it('is refused with "malformed" if the time of signing is missing', async () => {
    const validityInfo = { validFrom: now, validUntil: now };
    expect(await refusalOf(checked(handMade({ signer, mso: { validityInfo } }), byOwn))).toBe('malformed');
  });
});

describe('the signed digest of an element', () => {
  const minorItem = { ...adultItem, elementValue: false };

  it('is refused as "malformed" if the issuer signed two digests with the same digest ID', async () => {
    const digests = (own: Map<number, Uint8Array>) =>
      new Map<unknown, Uint8Array>([[0n, new Uint8Array(32)], ...own]);
    expect(await refused({ digests })).toBe('malformed');
  });

  it('is refused as "malformed" if its element is sent twice', async () => {
    expect(await refused({ items: [adultItem, adultItem] })).toBe('malformed');
    expect(await refused({ items: [adultItem, { ...minorItem, digestID: 1 }] })).toBe('malformed');
  });

  it('is refused as "digest mismatch" if it belongs to another element, has another digest ID, or is missing', async () => {
    const other = handMade({ items: [minorItem] });
    const digestOf = (own: Map<number, Uint8Array>) => own.get(0) ?? new Uint8Array();
    expect((await checked(other)).claims).toEqual({ age_18_plus: false });
    let minorDigest: Uint8Array = new Uint8Array();
    handMade({
      items: [minorItem],
      digests: (own) => {
        minorDigest = digestOf(own);
        return own;
      },
    });
    expect(await refused({ digests: () => new Map([[0, minorDigest]]) })).toBe('digest mismatch');
    expect(await refused({ digests: (own) => new Map([[1, digestOf(own)]]) })).toBe('digest mismatch');
    expect(await refused({ digests: () => new Map() })).toBe('digest mismatch');
  });

  it('is refused as "malformed" for SHA-1, and as "digest mismatch" for another algorithm than was used', async () => {
    expect(await refused({ mso: { digestAlgorithm: 'SHA-1' } })).toBe('malformed');
    expect(await refused({ mso: { digestAlgorithm: 'SHA-512' } })).toBe('digest mismatch');
  });
});

describe('a device response (ISO/IEC 18013-5)', () => {
  it.each([
    ['has another version', { response: { version: '2.0' } }, 'malformed'],
    ['has an error status', { response: { status: 10 } }, 'malformed'],
    ['has no document', { response: { documents: [] } }, 'malformed'],
    ['has a zero-knowledge proof', { response: { zkDocuments: [] } }, 'more than was asked for'],
    ['has errors in its document', { document: { errors: {} } }, 'less than was asked for'],
    [
      'has elements that only the device signed',
      { deviceNameSpaces: { [docType]: { a: 1 } } },
      'more than was asked for',
    ],
    ['has a security object of another version', { mso: { version: '2.0' } }, 'malformed'],
  ])('is refused if it %s', async (_what, parts, refusal) => {
    expect(await refused(parts)).toBe(refusal);
  });
});

describe('a digest of an SD-JWT disclosure (RFC 9901, 7.1)', () => {
  const disclosure = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
  const element = disclosure(['salt', 'DE']);
  const claim = disclosure(['salt', 'name', 'x']);
  const nested = disclosure(['salt', 'address', { _sd: [digestOf(claim)] }]);

  it.each([
    ['in one list', { _sd: [digestOf(claim), digestOf(claim)] }, [claim]],
    ['in two objects', { _sd: [digestOf(claim)], inner: { _sd: [digestOf(claim)] } }, [claim]],
    ['in two lists', { a: [{ '...': digestOf(element) }], b: [{ '...': digestOf(element) }] }, [element]],
    ['in a disclosed object', { _sd: [digestOf(claim), digestOf(nested)] }, [claim, nested]],
    ['without any disclosure', { _sd: ['decoy', 'decoy'] }, []],
  ])('is refused as "malformed" if it occurs twice %s', (_where, payload, disclosures) => {
    const work = () => applyDisclosures(payload, disclosures);
    expect(work).toThrow(PresentationRefused);
    expect(work).toThrow('malformed: digest twice');
  });

  it('is accepted beside a decoy digest', () => {
    const payload = { _sd: [digestOf(nested), 'decoy'] };
    expect(applyDisclosures(payload, [claim, nested]).claims).toEqual({ address: { name: 'x' } });
  });
});
