import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify,
  X509Certificate,
} from 'node:crypto';
import { DeviceResponse, Document, MDoc } from '@auth0/mdl';
import { DeviceRequest } from '@owf/mdoc';
import { decode, encode, Tagged } from 'cborg';
import * as hpke from 'hpke';
import type { AnnexCData } from './asking.ts';
import { issuer } from './attested.ts';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const jwkOf = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }), alg: 'ES256' });

/** Makes the last part of the session transcript from the encryption info as sent and the page's origin. */
const handoverOf = (encryptionInfo: string, origin: string) => [
  'dcapi',
  new Uint8Array(
    createHash('sha256')
      .update(encode([encryptionInfo, origin]))
      .digest(),
  ),
];

export interface HeldDocument {
  docType: string;
  namespace: string;
  values: Record<string, unknown>;
}

export const licence: HeldDocument = {
  docType: 'org.iso.18013.5.1.mDL',
  namespace: 'org.iso.18013.5.1',
  values: {
    family_name: 'Mustermann',
    age_over_18: true,
    age_over_21: true,
    issuing_country: 'EU',
    issuing_authority: 'Kraftfahrt-Bundesamt',
    document_number: 'L-4711',
  },
};
export const proofOfAge: HeldDocument = {
  docType: 'eu.europa.ec.av.1',
  namespace: 'eu.europa.ec.av.1',
  values: { age_over_18: true, age_over_21: true },
};

interface Order {
  document: HeldDocument;
  signer?: { key: KeyObject; certificates: readonly Uint8Array[] };
}

const day = 86_400_000;

async function issued({ document, signer = issuer.signer }: Order) {
  const { privateKey: deviceKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const at = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * day);
  const [certificate = new Uint8Array()] = signer.certificates;
  const alg = signer.key.asymmetricKeyDetails?.namedCurve === 'secp384r1' ? 'ES384' : 'ES256';
  const signed = await new Document(document.docType)
    .addIssuerNameSpace(document.namespace, document.values)
    .useDigestAlgorithm('SHA-256')
    .addValidityInfo({ signed: at(-2), validFrom: at(-2), validUntil: at(1) })
    .addDeviceKeyInfo({ deviceKey: createPublicKey(deviceKey).export({ format: 'jwk' }) as never })
    .sign({
      issuerPrivateKey: signer.key.export({ format: 'jwk' }) as never,
      issuerCertificate: new X509Certificate(certificate).toString(),
      alg,
    });
  return { mdoc: new MDoc([signed]), deviceKey };
}

type Names = readonly (readonly [namespace: string, element: string])[];

/** Returns the document type and the elements that a device request asks for. */
export function askedIn(deviceRequest: string): { docType: string; elements: Names } {
  const [first] = DeviceRequest.decode(bytesOf(deviceRequest)).docRequests;
  if (!first) throw new Error('nothing is asked for');
  const { docType, namespaces } = first.itemsRequest;
  const elements = [...namespaces].flatMap(([namespace, names]) =>
    [...names.keys()].map((name) => [namespace, name] as const),
  );
  return { docType, elements };
}

/** Encrypts a response as a wallet does for a page at `origin`. @returns the `data` of the credential */
export async function seal(response: Uint8Array, { encryptionInfo }: AnnexCData, origin: string) {
  const suite = new hpke.CipherSuite(
    hpke.KEM_DHKEM_P256_HKDF_SHA256,
    hpke.KDF_HKDF_SHA256,
    hpke.AEAD_AES_128_GCM,
  );
  const [, parameters] = decode(bytesOf(encryptionInfo), { useMaps: true }) as [string, Map<string, unknown>];
  const key = parameters.get('recipientPublicKey') as Map<number, Uint8Array>;
  const point = Buffer.concat([Uint8Array.of(4), key.get(-2) ?? [], key.get(-3) ?? []] as Uint8Array[]);
  const recipient = await suite.DeserializePublicKey(new Uint8Array(point));
  const info = new Uint8Array(encode([null, null, handoverOf(encryptionInfo, origin)]));
  const { encapsulatedSecret, ciphertext } = await suite.Seal(recipient, response, { info });
  return { response: textOf(encode(['dcapi', { enc: encapsulatedSecret, cipherText: ciphertext }])) };
}

/** The library writes absent values as `undefined`, but COSE has null there (RFC 9052 4.1). */
function withNulls(encoded: Uint8Array): Uint8Array {
  const tags = Tagged.preserve(0, 18, 24, 1004);
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (value instanceof Map) return new Map([...value].map(([name, each]) => [name, plain(each)]));
    return value ?? null;
  };
  return encode(plain(decode(encoded, { tags, useMaps: true })));
}

interface Given extends Partial<Order> {
  /** The origin that the wallet sees. */
  origin: string;
  /** The request for which the wallet signs and encrypts; by default the request that it received. */
  proven?: AnnexCData;
  shown?: (asked: Names) => Names;
  change?: (response: Uint8Array) => Uint8Array;
}

/**
 * An identity wallet of other libraries: `@owf/mdoc` reads requests, `@auth0/mdl` issues and presents, `hpke` encrypts.
 * @returns the `data` of the credential
 */
export async function presentByAnnexC(request: AnnexCData, given: Given): Promise<{ response: string }> {
  const { document = licence, origin, proven = request, shown = (asked: Names) => asked } = given;
  const { elements } = askedIn(request.deviceRequest);
  const { mdoc, deviceKey } = await issued({ ...given, document });
  const fields = shown(elements).map(([namespace, name]) => ({
    path: [`$['${namespace}']['${name}']`],
    intent_to_retain: true,
  }));
  const format = { mso_mdoc: { alg: ['ES256'] } };
  const response = await DeviceResponse.from(mdoc)
    .usingPresentationDefinition({
      id: 'asked',
      input_descriptors: [
        { id: document.docType, format, constraints: { limit_disclosure: 'required', fields } },
      ],
    })
    .usingHandover(handoverOf(proven.encryptionInfo, origin) as never)
    .authenticateWithSignature(jwkOf(deviceKey) as never, 'ES256')
    .sign();
  const encoded = withNulls(new Uint8Array(response.encode()));
  return seal(given.change ? given.change(encoded) : encoded, proven, origin);
}

/**
 * Checks reader authentication as a wallet does.
 * @returns the reader's certificates, and whether its signature is valid
 */
export function readerOf({ deviceRequest, encryptionInfo }: AnnexCData, origin: string) {
  const [first] = DeviceRequest.decode(bytesOf(deviceRequest)).docRequests;
  const readerAuth = first?.readerAuth;
  const [certificate = new Uint8Array()] = readerAuth?.certificateChain ?? [];
  if (!first || !readerAuth) throw new Error('the request names no reader');
  const items = new Tagged(24, first.itemsRequest.encode());
  const transcript = [null, null, handoverOf(encryptionInfo, origin)];
  readerAuth.detachedPayload = encode(new Tagged(24, encode(['ReaderAuthentication', transcript, items])));
  const key = { key: new X509Certificate(certificate).publicKey, dsaEncoding: 'ieee-p1363' } as const;
  return {
    certificates: readerAuth.certificateChain,
    isRight: verify('sha256', readerAuth.toBeSigned, key, readerAuth.signature),
  };
}
