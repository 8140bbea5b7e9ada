import { createPrivateKey, sign } from 'node:crypto';
import { decode, encode, Tagged } from 'cborg';
import { describe, expect, it } from 'vitest';
import { certificatesOf, parseSign1 } from '../../server/identity-wallet/formats/cbor.ts';
import { verifyIssuerSigned, verifyMdoc } from '../../server/identity-wallet/formats/mdoc.ts';
import { transcriptOf } from '../../server/identity-wallet/formats/transcript.ts';
import {
  documentSigner,
  parseCertificate,
  validatePath,
} from '../../server/identity-wallet/trust/certificates.ts';
import { handover, refusalOf } from './attested.ts';
import { annexD } from './published/iso-18013-5.ts';

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const docType = 'org.iso.18013.5.1.mDL';
const namespace = 'org.iso.18013.5.1';
/** A time within the validity of the example, which is 2020-10-01 to 2021-10-01. */
const now = Date.parse('2021-01-01T00:00:00Z');
const anchors = [parseCertificate(bytesOf(annexD.issuerRoot))];
const transcript = transcriptOf(handover);
const expected = { docType, anchors, purposes: [documentSigner], transcript, now };

type CborMap = Map<string, unknown>;
const tags = Tagged.preserve(0, 18, 24, 61, 1004);
/** Encodes maps in the order of the example, because the signature covers that order. */
const encodeInOrder = (value: unknown) => encode(value, { mapSorter: () => 0 });
const response = () => decode(bytesOf(annexD.deviceResponse), { tags, useMaps: true }) as CborMap;
const documentOf = (whole: CborMap) => (whole.get('documents') as CborMap[])[0] as CborMap;
const issuerSigned = () => documentOf(response()).get('issuerSigned') as CborMap;

/** Makes an online presentation of the example, with a device signature in place of the MAC. */
function presented(change: (document: CborMap) => void = () => {}): Uint8Array {
  const whole = response();
  const document = documentOf(whole);
  const coordinates = Object.entries(annexD.deviceKey).map(([name, hex]) => [
    name,
    Buffer.from(hex, 'hex').toString('base64url'),
  ]);
  const jwk = { kty: 'EC', crv: 'P-256', ...Object.fromEntries(coordinates) };
  const headers = encode(new Map([[1, -7]]));
  const namespaces = new Tagged(24, encode(new Map()));
  const session: unknown = decode(transcript);
  const payload = encode(new Tagged(24, encode(['DeviceAuthentication', session, docType, namespaces])));
  const signature = sign('sha256', encode(['Signature1', headers, new Uint8Array(), payload]), {
    key: createPrivateKey({ key: jwk, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363',
  });
  const deviceSignature = [headers, new Map(), null, new Uint8Array(signature)];
  const deviceSigned = document.get('deviceSigned') as CborMap;
  deviceSigned.set('deviceAuth', new Map([['deviceSignature', deviceSignature]]));
  change(document);
  return encodeInOrder(whole);
}

describe('the mobile driving licence of ISO/IEC 18013-5, annex D', () => {
  it('is signed by its issuer, and every element has the signed digest', () => {
    const { elements, statuses, issuer } = verifyIssuerSigned(issuerSigned(), expected);
    expect([...elements.keys()]).toEqual([namespace]);
    expect([...(elements.get(namespace)?.keys() ?? [])]).toEqual([
      ...['family_name', 'issue_date', 'expiry_date', 'document_number', 'portrait', 'driving_privileges'],
    ]);
    expect(elements.get(namespace)?.get('family_name')).toBe('Doe');
    expect(elements.get(namespace)?.get('document_number')).toBe('123456789');
    expect(statuses).toEqual([]);
    expect(issuer.x509.subject).toBe('CN=utopia ds\nC=US');
  });

  it('is accepted with a signature by its device key', () => {
    const { elements } = verifyMdoc(presented(), expected);
    expect(elements.get(namespace)?.get('family_name')).toBe('Doe');
  });

  it('is refused as published ("no device signature"), because it has a device MAC instead', async () => {
    const work = async () => verifyMdoc(bytesOf(annexD.deviceResponse), expected);
    await expect(work()).rejects.toThrow('holder proof wrong: no device signature');
  });

  it.each([
    ['attestation not yet valid', '61 s before it was signed', '2020-10-01T13:29:01Z'],
    ['issuer certificate unusable', 'after it has expired', '2021-10-01T13:30:02Z'],
  ])('is refused as "%s" %s', async (refusal, _when, at) => {
    const work = async () => verifyMdoc(presented(), { ...expected, now: Date.parse(at) });
    expect(await refusalOf(work())).toBe(refusal);
  });

  it('is refused as "unknown issuer" if the only trusted root is the root of readers', async () => {
    const readers = [parseCertificate(bytesOf(annexD.readerRoot))];
    const work = async () => verifyMdoc(presented(), { ...expected, anchors: readers });
    expect(await refusalOf(work())).toBe('unknown issuer');
  });

  it('is refused ("holder proof wrong") if the device signed for another nonce', async () => {
    const other = transcriptOf({ ...handover, nonce: 'another' });
    const work = async () => verifyMdoc(presented(), { ...expected, transcript: other });
    expect(await refusalOf(work())).toBe('holder proof wrong');
  });

  it('is refused ("digest mismatch") if the family name was changed after signing', async () => {
    const bytes = presented((document) => {
      const namespaces = (document.get('issuerSigned') as CborMap).get('nameSpaces') as CborMap;
      const [first, ...rest] = namespaces.get(namespace) as Tagged[];
      const text = Buffer.from(first?.value as Uint8Array)
        .toString('latin1')
        .replace('Doe', 'Roe');
      namespaces.set(namespace, [new Tagged(24, new Uint8Array(Buffer.from(text, 'latin1'))), ...rest]);
    });
    expect(await refusalOf((async () => verifyMdoc(bytes, expected))())).toBe('digest mismatch');
  });
});

describe('the certificates of ISO/IEC 18013-5, annex D', () => {
  it('form a path from the document signer to its root', () => {
    const issuerAuth = parseSign1(issuerSigned().get('issuerAuth'), 'example');
    const signer = validatePath(certificatesOf(issuerAuth), { anchors, purposes: [documentSigner], now });
    expect(signer.purposes).toEqual([documentSigner]);
  });

  it('do not let a reader sign documents, although its path to the root is complete', async () => {
    const readers = [parseCertificate(bytesOf(annexD.readerRoot))];
    const path = [bytesOf(annexD.reader)];
    expect(validatePath(path, { anchors: readers, now }).x509.subject).toBe('CN=reader');
    const work = async () => validatePath(path, { anchors: readers, purposes: [documentSigner], now });
    expect(await refusalOf(work())).toBe('issuer certificate unusable');
  });
});
