import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { encode, Tagged } from 'cborg';
import { cborTag, coseKeyOf, es256, headerLabels } from '../cbor.ts';

/** A key with its certificates, the signer's first. */
export interface Signer {
  key: KeyObject;
  certificates: readonly Uint8Array[];
}

/** The content of an attestation that all formats have. Times in milliseconds since the epoch. */
interface Content {
  signer: Signer;
  /** The private key of the identity wallet. */
  holderKey: KeyObject;
  signed: number;
  validFrom: number;
  validUntil: number;
  /** The status reference, in the form of the attestation. */
  status?: Readonly<Record<string, unknown>> | undefined;
}

export interface MdocContent extends Content {
  docType: string;
  /** The namespace of the elements. The default is the document type. */
  namespace?: string;
  elements: Readonly<Record<string, unknown>>;
}

export interface SdJwtContent extends Content {
  type: string;
  /** The claims. Each can be disclosed separately, also inside objects and lists. */
  claims: Readonly<Record<string, unknown>>;
}

export const signEs256 = (key: KeyObject, data: Uint8Array): Buffer =>
  sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });

const embedded = (value: unknown) => new Tagged(cborTag.embedded, encode(value));
/** Returns a time as a text date without fractions of a second (ISO/IEC 18013-5, 9.1.2.4). */
const textDate = (time: number) =>
  new Tagged(cborTag.textDate, `${new Date(time).toISOString().slice(0, 19)}Z`);

/** Issues an attestation as an ISO mdoc. Returns the encoded `IssuerSigned`. */
export function issueMdoc(content: MdocContent): Uint8Array {
  const { docType, namespace = docType, elements, signer, holderKey, status } = content;
  const items = Object.entries(elements).map(([elementIdentifier, elementValue], digestID) =>
    embedded({ digestID, random: randomBytes(32), elementIdentifier, elementValue }),
  );
  const digests = new Map(items.map((item, id) => [id, createHash('sha256').update(encode(item)).digest()]));
  const payload = encode(
    embedded({
      version: '1.0',
      digestAlgorithm: 'SHA-256',
      valueDigests: { [namespace]: digests },
      deviceKeyInfo: { deviceKey: coseKeyOf(holderKey) },
      docType,
      validityInfo: {
        signed: textDate(content.signed),
        validFrom: textDate(content.validFrom),
        validUntil: textDate(content.validUntil),
      },
      ...(status ? { status } : {}),
    }),
  );
  const headers = encode(new Map([[headerLabels.algorithm, es256]]));
  const noExternalData = new Uint8Array();
  const signature = signEs256(signer.key, encode(['Signature1', headers, noExternalData, payload]));
  // A single certificate is not in a list (RFC 9360 2).
  const chain = signer.certificates.length === 1 ? signer.certificates[0] : signer.certificates;
  const issuerAuth = [headers, new Map([[headerLabels.certificates, chain]]), payload, signature];
  return encode({ nameSpaces: { [namespace]: items }, issuerAuth });
}

/** Computes a digest for the SD-JWT library. @param algorithm such as `sha-256` */
const hasher = (data: string | ArrayBuffer, algorithm: string) =>
  new Uint8Array(
    createHash(algorithm.replace('-', ''))
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest(),
  );

/** Returns the SD-JWT library with the keys to issue and to present with. */
export const sdJwtLibrary = (keys: { issuer?: KeyObject; holder?: KeyObject }) => {
  const signWith = (key: KeyObject) => (data: string) =>
    signEs256(key, Buffer.from(data)).toString('base64url');
  return new SDJwtVcInstance({
    hasher,
    saltGenerator: (length = 16) => randomBytes(length).toString('base64url'),
    ...(keys.issuer ? { signer: signWith(keys.issuer), signAlg: 'ES256' } : {}),
    ...(keys.holder ? { kbSigner: signWith(keys.holder), kbSignAlg: 'ES256' } : {}),
  });
};

type Frame = { _sd?: (string | number)[]; [name: string]: unknown };

/** Returns a frame that makes every claim separately disclosable, also inside objects and lists. */
function frameOf(value: unknown): Frame | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const names = Array.isArray(value) ? value.map((_item, index) => index) : Object.keys(value);
  const inner = Object.entries(value).flatMap(([name, member]) => {
    const frame = frameOf(member);
    return frame ? [[name, frame] as const] : [];
  });
  return { _sd: names, ...Object.fromEntries(inner) };
}

/** Issues an attestation as an SD-JWT VC, with all of its disclosures. */
export async function issueSdJwt(content: SdJwtContent): Promise<string> {
  const { type, claims, signer, holderKey, status } = content;
  const { kty, crv, x, y } = createPublicKey(holderKey).export({ format: 'jwk' });
  const secondsOf = (time: number) => Math.floor(time / 1000);
  const payload = {
    vct: type,
    iss: 'https://issuer.test.invalid',
    iat: secondsOf(content.signed),
    nbf: secondsOf(content.validFrom),
    exp: secondsOf(content.validUntil),
    cnf: { jwk: { kty, crv, x, y } },
    ...(status ? { status: status as { status_list: never } } : {}),
    ...claims,
  };
  const x5c = signer.certificates.map((der) => Buffer.from(der).toString('base64'));
  return sdJwtLibrary({ issuer: signer.key }).issue(payload, frameOf(claims) as never, { header: { x5c } });
}
